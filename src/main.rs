//! argv to run mode to exit code.

fn main() -> std::process::ExitCode {
    pilothouse::run::main()
}

//! A receiver for tests: a server on loopback that hears each request whole, and answers byte by byte what a test wants.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One request.
#[derive(Clone, Debug)]
pub struct Heard {
    pub head: String,
    pub body: String,
}

impl Heard {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub struct Hook {
    port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Hook {
    /// `answer` gets the number of the request, from 0 on. It ends with the process.
    pub fn start(answer: impl Fn(usize, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let hook = Self { port: listener.local_addr().unwrap().port(), heard: Arc::default() };
        let (heard, answer) = (hook.heard.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (heard, answer) = (heard.clone(), answer.clone());
                std::thread::spawn(move || {
                    let request = hear(&mut stream);
                    let number = {
                        let mut heard = heard.lock().unwrap();
                        heard.push(request);
                        heard.len() - 1
                    };
                    answer(number, &mut stream);
                });
            }
        });
        hook
    }

    /// Always the same answer, without a body.
    pub fn saying(status: &'static str) -> Self {
        Self::start(move |_, stream| say(stream, status, ""))
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    /// Waits until it has heard so many.
    pub fn wait_for(&self, count: usize) -> Vec<Heard> {
        for _ in 0..6_000 {
            let heard = self.heard();
            if heard.len() >= count {
                return heard;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("{} of {count} requests came", self.heard().len());
    }
}

/// One answer. The other side may have gone, which is what many tests are about.
pub fn say(stream: &mut TcpStream, status: &str, body: &str) {
    let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
}

fn hear(stream: &mut TcpStream) -> Heard {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    Heard { head, body: String::from_utf8(body).unwrap() }
}

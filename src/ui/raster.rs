//! An SVG of the screen as a PNG, with the fonts of this machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Pixels a unit of the SVG: sharp on usual screens without being huge.
const SCALE: f32 = 2.0;

/// The picture's bytes.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    if !fonts.faces().any(|face| face.monospaced) {
        return Err("a PNG needs a monospaced font, and this machine has none: install one, or write svg".to_owned());
    }
    choose_monospace(&mut fonts);
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| e.to_string())?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the picture has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the picture is too large")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| e.to_string())
}

/// `monospace` is whatever monospaced family there is: the crate's own default need not be installed.
fn choose_monospace(fonts: &mut fontdb::Database) {
    let family = fonts.faces().find(|face| face.monospaced).and_then(|face| face.families.first().map(|(name, _)| name.clone()));
    if let Some(family) = family {
        fonts.set_monospace_family(family);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_size_of_its_svg_or_says_what_is_missing() {
        let svg =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\"><rect width=\"20\" height=\"10\" fill=\"red\"/></svg>";
        match png(svg) {
            Ok(bytes) => {
                assert!(bytes.starts_with(b"\x89PNG"));
                // Width and height stand big-endian behind the first chunk's name.
                assert_eq!((&bytes[16..20], &bytes[20..24]), (&40u32.to_be_bytes()[..], &20u32.to_be_bytes()[..]));
            }
            Err(told) => assert!(told.contains("monospaced font"), "{told}"),
        }
        assert!(png("<svg").is_err());
    }
}

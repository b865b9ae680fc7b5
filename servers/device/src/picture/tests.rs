use super::{Area, DecodeError, Options, Pixels, compare, decode, difference};

fn plain(width: u32, height: u32, colour: [u8; 3]) -> Pixels {
    Pixels::new(width, height, colour.repeat((width * height) as usize))
}

fn painted(mut picture: Pixels, area: Area, colour: [u8; 3]) -> Pixels {
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            let start = ((y * picture.width + x) * 3) as usize;
            picture.rgb[start..start + 3].copy_from_slice(&colour);
        }
    }
    picture
}

fn area(x: u32, y: u32, width: u32, height: u32) -> Area {
    Area { x, y, width, height }
}

#[test]
fn what_differs_and_where() {
    let white = || plain(400, 300, [255; 3]);
    let button = area(40, 50, 120, 44);
    let far = area(300, 250, 20, 20);
    let cases = [
        ("nothing", white(), vec![]),
        ("a button", painted(white(), button, [0, 98, 204]), vec![button]),
        ("two things", painted(painted(white(), button, [0; 3]), far, [9; 3]), vec![button, far]),
        ("one pixel", painted(white(), area(399, 299, 1, 1), [0; 3]), vec![area(399, 299, 1, 1)]),
        (
            "two neighbours are one",
            painted(painted(white(), area(10, 10, 5, 5), [0; 3]), area(20, 10, 5, 5), [0; 3]),
            vec![area(10, 10, 15, 5)],
        ),
        ("everything", plain(400, 300, [0; 3]), vec![area(0, 0, 400, 300)]),
    ];
    for (name, after, expected) in cases {
        let found = compare(&white(), &after, &Options::default());
        assert_eq!(found.regions, expected, "{name}");
        assert_eq!(found.compared, 120_000, "{name}");
        assert_eq!(found.changed == 0, expected.is_empty(), "{name}");
        assert!(found.same_size, "{name}");
    }
}

#[test]
fn masks_and_tolerance() {
    let (white, button) = (plain(100, 100, [250; 3]), area(10, 10, 20, 20));
    let after = painted(white.clone(), button, [246, 250, 250]);
    let changed = |tolerance: u8, masks: Vec<Area>| {
        let found = compare(&white, &after, &Options { tolerance, masks, ..Options::default() });
        (found.changed, found.compared)
    };
    assert_eq!(changed(3, vec![]), (400, 10_000));
    assert_eq!(changed(4, vec![]), (0, 10_000), "just within");
    assert_eq!(changed(0, vec![button]), (0, 9_600));
    assert_eq!(changed(0, vec![area(0, 0, 20, 100)]), (200, 8_000), "half of it");
    assert_eq!(changed(0, vec![area(90, 90, 4_000_000_000, 4_000_000_000)]), (400, 9_900), "beyond the edge");
}

#[test]
fn pictures_of_different_sizes() {
    let found = compare(&plain(100, 100, [1; 3]), &plain(100, 130, [1; 3]), &Options::default());
    assert!(!found.same_size);
    assert_eq!((found.changed, found.regions), (3_000, vec![area(0, 100, 100, 30)]));
    let empty = compare(&plain(0, 0, [0; 3]), &plain(0, 0, [0; 3]), &Options::default());
    assert!(empty.share().abs() < f64::EPSILON && empty.regions.is_empty());
}

#[test]
fn only_so_many_regions() {
    let mut after = plain(800, 800, [255; 3]);
    for step in 0..25 {
        after = painted(after, area(step % 5 * 160, step / 5 * 160, 10, 10 + step), [0; 3]);
    }
    let found =
        compare(&plain(800, 800, [255; 3]), &after, &Options { most_regions: 7, ..Options::default() });
    assert_eq!((found.regions.len(), found.more_regions), (7, 18));
    assert_eq!(found.regions[0], area(640, 640, 10, 34), "the largest first");
}

#[test]
fn the_difference_is_a_picture_that_shows_it() {
    let (before, button) = (plain(200, 200, [255; 3]), area(50, 60, 40, 20));
    let after = painted(before.clone(), button, [20, 120, 20]);
    let found = compare(&before, &after, &Options::default());
    let shown = decode(&difference(&after, &found).unwrap()).unwrap();
    let at = |x: u32, y: u32| &shown.row(y)[x as usize * 3..x as usize * 3 + 3];
    assert_eq!((shown.width, shown.height), (200, 200));
    assert_eq!(at(70, 70), [214, 0, 60], "what changed");
    assert_eq!(at(47, 70), [0, 98, 204], "its frame");
    assert_eq!(at(5, 5), [255; 3], "the rest fades");
}

fn encoded(width: u32, height: u32, colour: png::ColorType, bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![];
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    if colour == png::ColorType::Indexed {
        encoder.set_palette(vec![255, 0, 0, 0, 0, 255]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(bytes).unwrap();
    drop(writer);
    file
}

#[test]
fn every_kind_of_png() {
    use png::ColorType::{Grayscale, GrayscaleAlpha, Indexed, Rgb, Rgba};
    for (colour, bytes, expected) in [
        (Rgb, &[1, 2, 3, 4, 5, 6][..], [1, 2, 3, 4, 5, 6]),
        (Rgba, &[1, 2, 3, 255, 9, 9, 9, 0], [1, 2, 3, 255, 255, 255]),
        (Grayscale, &[7, 8], [7, 7, 7, 8, 8, 8]),
        (GrayscaleAlpha, &[7, 255, 0, 0], [7, 7, 7, 255, 255, 255]),
        (Indexed, &[0, 1], [255, 0, 0, 0, 0, 255]),
    ] {
        let picture = decode(&encoded(2, 1, colour, bytes)).unwrap();
        assert_eq!(picture, Pixels::new(2, 1, expected.to_vec()), "{colour:?}");
    }
}

/// A PNG header with this size and no data.
fn claimed(width: u32, height: u32) -> Vec<u8> {
    let mut file = encoded(1, 1, png::ColorType::Grayscale, &[0]);
    file[16..20].copy_from_slice(&width.to_be_bytes());
    file[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = checksum(&file[12..29]);
    file[29..33].copy_from_slice(&sum.to_be_bytes());
    file
}

fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

#[test]
fn what_is_no_picture_is_refused_and_costs_nothing() {
    for (width, height) in [(u32::MAX >> 1, 1), (20_000, 20_000), (16_384, 16_384), (1, 20_000)] {
        assert_eq!(decode(&claimed(width, height)), Err(DecodeError::TooLarge { width, height }));
    }
    let whole = encoded(20, 20, png::ColorType::Grayscale, &[3; 400]);
    for cut in 0..whole.len() - 12 {
        assert_eq!(decode(&whole[..cut]), Err(DecodeError::NotPng), "cut at {cut}");
    }
    assert_eq!(decode(b"<html>"), Err(DecodeError::NotPng));
    assert_eq!(decode(&claimed(5_000, 5_000)), Err(DecodeError::NotPng), "a size it does not have");
}

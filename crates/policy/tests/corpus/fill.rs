//! Fills in the random parts of a corpus line. The generator is deterministic.

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

pub(crate) fn fill(text: &str, seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        random.next(2);
    }
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        // `${` does not begin a random part.
        let (inner, tail) = after.split_once('}').expect("a closed part");
        filled.push_str(before);
        if before.ends_with('$') {
            filled.push_str(&format!("{{{inner}}}"));
        } else {
            filled.push_str(&part(inner, &mut random));
        }
        rest = tail;
    }
    filled.push_str(rest);
    filled.replace("\\n", "\n")
}

fn part(inner: &str, random: &mut Random) -> String {
    match inner.split_once(':') {
        Some(("tags", text)) => text.chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect(),
        Some((kind, length)) => {
            let length: usize = length.parse().expect("a length");
            let (alphabet, must): (String, &[&str]) = match kind {
                "alnum" => ([UPPER, LOWER, DIGITS].concat(), &[UPPER, LOWER, DIGITS]),
                "upper" => ([UPPER, DIGITS].concat(), &[]),
                "lower" => ([LOWER, DIGITS].concat(), &[]),
                "hex" => ("0123456789abcdef".to_owned(), &[]),
                "digits" => (DIGITS.to_owned(), &[]),
                "word" => ([UPPER, LOWER, DIGITS, "_-"].concat(), &[UPPER, LOWER, DIGITS]),
                "code" => ([UPPER, LOWER, DIGITS, "+/"].concat(), &[UPPER, LOWER, DIGITS]),
                other => panic!("no such part: {other}"),
            };
            let pick = |from: &str, random: &mut Random| from.as_bytes()[random.next(from.len())];
            let mut bytes: Vec<u8> = (0..length).map(|_| pick(&alphabet, random)).collect();
            for (index, kind) in must.iter().enumerate().filter(|_| length > 8) {
                bytes[index * 2 + 1] = pick(kind, random);
            }
            // Begin and end with a letter or digit, so that the surrounding text does not become part of the
            // key.
            for edge in [0, length - 1] {
                if !bytes[edge].is_ascii_alphanumeric() {
                    bytes[edge] = b'k';
                }
            }
            String::from_utf8(bytes).expect("ASCII")
        }
        None if inner == "jwt" => {
            // The header {"alg":"HS256","typ":"JWT"}, and claims about nobody.
            let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
            let claims = "eyJzdWIiOiIxMjM0NTY3ODkwIiwiaWF0IjoxNTE2MjM5MDIyfQ";
            format!("{header}.{claims}.{}", part("word:43", random))
        }
        None => panic!("no such part: {inner}"),
    }
}

//! Checksums and issuing rules that distinguish real numbers from look-alikes.

/// Up to 24 digits of a text, without its other characters.
pub(in crate::guard) struct Digits {
    all: [u8; 24],
    count: usize,
}

impl Digits {
    pub(in crate::guard) fn extract(text: &[u8]) -> Digits {
        let mut digits = Digits { all: [0; 24], count: 0 };
        for byte in text.iter().filter(|byte| byte.is_ascii_digit()) {
            if let Some(slot) = digits.all.get_mut(digits.count) {
                *slot = byte - b'0';
                digits.count += 1;
            }
        }
        digits
    }

    pub(in crate::guard) fn as_slice(&self) -> &[u8] {
        self.all.get(..self.count).unwrap_or_default()
    }

    /// The first `count` digits as one number.
    pub(in crate::guard) fn first(&self, count: usize) -> u32 {
        self.as_slice().iter().take(count).fold(0, |value, digit| value * 10 + u32::from(*digit))
    }

    fn are_all_the_same(&self) -> bool {
        let digits = self.as_slice();
        digits.iter().all(|digit| Some(digit) == digits.first())
    }
}

/// The Luhn checksum of payment cards and Canadian insurance numbers.
pub(in crate::guard) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Checks length, prefix and checksum of a card number.
pub(in crate::guard) fn card(text: &[u8]) -> bool {
    let digits = Digits::extract(text);
    card_issuer(digits.as_slice()) && luhn(digits.as_slice())
}

/// Checks that the length and prefix of a card number are issued.
pub(in crate::guard) fn card_issuer(digits: &[u8]) -> bool {
    let length = digits.len();
    let first =
        |count: usize| digits.iter().take(count).fold(0, |value, digit| value * 10 + u32::from(*digit));
    let (two, three, four) = (first(2), first(3), first(4));
    match first(1) {
        4 => matches!(length, 13 | 16 | 19),
        5 if matches!(four, 5018 | 5020 | 5038 | 5893) => (12..=19).contains(&length),
        5 => (51..=55).contains(&two) && length == 16,
        2 => ((2221..=2720).contains(&four) || (2200..=2204).contains(&four)) && length == 16,
        3 if matches!(two, 34 | 37) => length == 15,
        3 if matches!(two, 36 | 38 | 39) || (300..=305).contains(&three) => matches!(length, 14 | 16),
        3 => (3528..=3589).contains(&four) && length == 16,
        6 if matches!(four, 6304 | 6759 | 6761..=6763) => (12..=19).contains(&length),
        6 => {
            (four == 6011 || two == 65 || two == 62 || (644..=649).contains(&three))
                && (16..=19).contains(&length)
        }
        _ => false,
    }
}

/// United States: checks that area, group and serial are issued.
pub(in crate::guard) fn us_ssn(text: &[u8]) -> bool {
    let digits = Digits::extract(text);
    let area = digits.first(3);
    let number = digits.first(9);
    let (group, serial) = (number / 10_000 % 100, number % 10_000);
    area != 0
        && area != 666
        && area < 900
        && group != 0
        && serial != 0
        && number != 123_456_789
        && number != 78_051_120
}

/// United Kingdom: checks that the prefix is issued.
pub(in crate::guard) fn uk_nino(text: &[u8]) -> bool {
    let prefix = text.get(..2).unwrap_or_default().to_ascii_uppercase();
    !matches!(prefix.as_slice(), b"BG" | b"GB" | b"KN" | b"NK" | b"NT" | b"TN" | b"ZZ")
}

/// Canada: the Luhn checksum, and an issued first digit.
pub(in crate::guard) fn ca_sin(text: &[u8]) -> bool {
    let digits = Digits::extract(text);
    !matches!(digits.first(1), 0 | 8) && !digits.are_all_the_same() && luhn(digits.as_slice())
}

/// Spain: the check character follows from the number. The first character of a foreigner's number stands for
/// a digit.
pub(in crate::guard) fn es_dni(text: &[u8]) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let lead = match text.first().map(u8::to_ascii_uppercase) {
        Some(b'Y') => 10_000_000,
        Some(b'Z') => 20_000_000,
        _ => 0,
    };
    let number = lead + Digits::extract(text).first(8);
    let letter = text.last().map(u8::to_ascii_uppercase);
    letter.is_some() && LETTERS.get((number % 23) as usize).copied() == letter
}

/// Italy: the last character is a weighted sum; odd and even positions have different weights.
pub(in crate::guard) fn it_codice_fiscale(text: &[u8]) -> bool {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let value = |byte: u8| {
        u32::from(if byte.is_ascii_digit() {
            byte - b'0'
        } else {
            byte.to_ascii_uppercase().saturating_sub(b'A')
        })
    };
    let sum: u32 = text
        .iter()
        .take(15)
        .enumerate()
        .map(|(place, byte)| match place % 2 {
            0 => ODD.get(value(*byte) as usize).copied().unwrap_or(0),
            _ => value(*byte),
        })
        .sum();
    text.get(15).is_some_and(|last| last.is_ascii_alphabetic() && value(*last) == sum % 26)
}

/// France: the last two digits are a checksum modulo 97. Departments of Corsica contain an A or B.
pub(in crate::guard) fn fr_nir(text: &[u8]) -> bool {
    let mut plain: Vec<u8> = text.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let corsica = match plain.get(6).map(u8::to_ascii_uppercase) {
        Some(b'A') => 1_000_000,
        Some(b'B') => 2_000_000,
        _ => 0,
    };
    if corsica > 0 {
        plain.iter_mut().skip(6).take(1).for_each(|letter| *letter = b'0');
    }
    let digits = Digits::extract(&plain);
    let number = |part: &[u8]| part.iter().fold(0u64, |value, digit| value * 10 + u64::from(*digit));
    match (digits.as_slice().get(..13), digits.as_slice().get(13..15)) {
        (Some(body), Some(key)) => 97 - (number(body).saturating_sub(corsica)) % 97 == number(key),
        _ => false,
    }
}

/// Brazil: two check digits, each a weighted sum of the digits before it.
pub(in crate::guard) fn br_cpf(text: &[u8]) -> bool {
    let digits = Digits::extract(text);
    let sum = |count: usize| {
        let weights = (2..=count + 1).rev();
        let sum: usize =
            digits.as_slice().iter().zip(weights).map(|(digit, weight)| usize::from(*digit) * weight).sum();
        match sum * 10 % 11 {
            10 => 0,
            rest => rest,
        }
    };
    let at = |place: usize| digits.as_slice().get(place).map(|digit| usize::from(*digit));
    !digits.are_all_the_same() && at(9) == Some(sum(9)) && at(10) == Some(sum(10))
}

/// India: the Verhoeff checksum, which uses the dihedral group of a pentagon.
pub(in crate::guard) fn in_aadhaar(text: &[u8]) -> bool {
    const SWAP: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let turn = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let digits = Digits::extract(text);
    let sum = digits.as_slice().iter().rev().enumerate().fold(0, |sum, (place, digit)| {
        let swapped =
            (0..place % 8).fold(*digit, |digit, _| SWAP.get(usize::from(digit)).copied().unwrap_or(0));
        turn(sum, swapped)
    });
    digits.as_slice().len() == 12 && !digits.are_all_the_same() && sum == 0
}

/// International bank account numbers: the length of the country, and a checksum modulo 97.
pub(in crate::guard) fn iban(text: &[u8]) -> bool {
    const LENGTHS: [([u8; 2], usize); 40] = [
        (*b"AD", 24),
        (*b"AE", 23),
        (*b"AT", 20),
        (*b"BE", 16),
        (*b"BG", 22),
        (*b"BH", 22),
        (*b"BR", 29),
        (*b"CH", 21),
        (*b"CY", 28),
        (*b"CZ", 24),
        (*b"DE", 22),
        (*b"DK", 18),
        (*b"EE", 20),
        (*b"ES", 24),
        (*b"FI", 18),
        (*b"FR", 27),
        (*b"GB", 22),
        (*b"GR", 27),
        (*b"HR", 21),
        (*b"HU", 28),
        (*b"IE", 22),
        (*b"IL", 23),
        (*b"IS", 26),
        (*b"IT", 27),
        (*b"LI", 21),
        (*b"LT", 20),
        (*b"LU", 20),
        (*b"LV", 21),
        (*b"MC", 27),
        (*b"MT", 31),
        (*b"NL", 18),
        (*b"NO", 15),
        (*b"PL", 28),
        (*b"PT", 25),
        (*b"RO", 24),
        (*b"SA", 24),
        (*b"SE", 24),
        (*b"SI", 19),
        (*b"SK", 24),
        (*b"TR", 26),
    ];
    let length = text.iter().filter(|byte| **byte != b' ').count();
    let country = text.first_chunk().and_then(|country| LENGTHS.iter().find(|row| row.0 == *country));
    if country.is_none_or(|(_, expected)| length != *expected) {
        return false;
    }
    let plain = || text.iter().filter(|byte| **byte != b' ');
    let rest = plain().skip(4).chain(plain().take(4)).fold(0u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte.saturating_sub(b'A')) + 10) % 97,
    });
    rest == 1
}

/// Shannon entropy in bits per byte.
pub(in crate::guard) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / all)
        .map(|p| -p * p.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::{
        br_cpf, ca_sin, card, entropy, es_dni, fr_nir, in_aadhaar, it_codice_fiscale, uk_nino, us_ssn,
    };

    fn check(rule: fn(&[u8]) -> bool, right: &[&str], wrong: &[&str]) {
        for text in right {
            assert!(rule(text.as_bytes()), "{text}");
        }
        for text in wrong {
            assert!(!rule(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn sums_tell_real_numbers_from_others() {
        check(
            card,
            &[
                "4111111111111111",
                "5555-5555-5555-4444",
                "378282246310005",
                "6011111111111117",
                "30569309025904",
                "3530111333300000",
            ],
            &["4111111111111112", "1234567812345670", "411111111111111"],
        );
        check(
            us_ssn,
            &["536-90-4399", "001-01-0001"],
            &["000-12-3456", "666-12-3456", "900-12-3456", "123-00-4567", "123-45-0000"],
        );
        check(uk_nino, &["AB123456C"], &["GB123456A", "ZZ123456A"]);
        check(ca_sin, &["193 456 787", "130-692-544"], &["046 454 286", "193 456 788", "111-111-111"]);
        check(es_dni, &["12345678Z", "X1234567L", "Y1234567X"], &["12345678A", "X1234567A"]);
        check(it_codice_fiscale, &["RSSMRA85T10A562S"], &["RSSMRA85T10A562A"]);
        check(fr_nir, &["255081416802538", "2 55 08 14 168 025 38"], &["255081416802539"]);
        check(br_cpf, &["529.982.247-25", "111.444.777-35"], &["529.982.247-26", "111.111.111-11"]);
        check(in_aadhaar, &["2341 2341 2346"], &["2341 2341 2345", "2222 2222 2222"]);
    }

    #[test]
    fn words_hold_less_surprise_than_keys() {
        assert!(entropy(b"the_quick_brown_fox_function_name") < 4.3);
        assert!(entropy(b"kJ8x/Q2mZp0vR+7wLt4bNc9sYe1uHfGa") > 4.6);
    }
}

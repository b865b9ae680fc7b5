//! The table of all categories that guards detect.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// Keys, tokens and passwords.
    Secrets,
    /// Personal data.
    Pii,
    /// Prompt injection: text that tries to give instructions to a model.
    Injection,
}

impl Guard {
    pub const ALL: [Guard; 3] = [Guard::Secrets, Guard::Pii, Guard::Injection];

    pub fn as_str(self) -> &'static str {
        match self {
            Guard::Secrets => "secrets",
            Guard::Pii => "pii",
            Guard::Injection => "injection",
        }
    }
}

macro_rules! categories {
    ($($variant:ident, $guard:ident, $name:literal, $label:literal;)*) => {
        /// One category of content that a guard detects.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Category { $($variant),* }

        const TABLE: &[(Category, Guard, &str, &str)] = &[$((Category::$variant, Guard::$guard, $name, $label)),*];
    };
}

categories! {
    AwsAccessKey, Secrets, "aws_access_key", "[redacted: secrets/aws_access_key]";
    AwsSecretKey, Secrets, "aws_secret_key", "[redacted: secrets/aws_secret_key]";
    GithubToken, Secrets, "github_token", "[redacted: secrets/github_token]";
    GithubFineGrained, Secrets, "github_fine_grained", "[redacted: secrets/github_fine_grained]";
    GitlabToken, Secrets, "gitlab_token", "[redacted: secrets/gitlab_token]";
    GoogleKey, Secrets, "google_key", "[redacted: secrets/google_key]";
    SlackToken, Secrets, "slack_token", "[redacted: secrets/slack_token]";
    OpenaiKey, Secrets, "openai_key", "[redacted: secrets/openai_key]";
    AnthropicKey, Secrets, "anthropic_key", "[redacted: secrets/anthropic_key]";
    StripeKey, Secrets, "stripe_key", "[redacted: secrets/stripe_key]";
    Jwt, Secrets, "jwt", "[redacted: secrets/jwt]";
    PrivateKey, Secrets, "private_key", "[redacted: secrets/private_key]";
    ConnectionString, Secrets, "connection_string", "[redacted: secrets/connection_string]";
    PackageToken, Secrets, "package_token", "[redacted: secrets/package_token]";
    ServiceKey, Secrets, "service_key", "[redacted: secrets/service_key]";
    Credential, Secrets, "credential", "[redacted: secrets/credential]";
    Entropy, Secrets, "entropy", "[redacted: secrets/entropy]";
    Email, Pii, "email", "[redacted: pii/email]";
    Phone, Pii, "phone", "[redacted: pii/phone]";
    CreditCard, Pii, "credit_card", "[redacted: pii/credit_card]";
    IpAddress, Pii, "ip_address", "[redacted: pii/ip_address]";
    UsSsn, Pii, "us_ssn", "[redacted: pii/us_ssn]";
    UkNino, Pii, "uk_nino", "[redacted: pii/uk_nino]";
    CaSin, Pii, "ca_sin", "[redacted: pii/ca_sin]";
    EsDni, Pii, "es_dni", "[redacted: pii/es_dni]";
    ItCodiceFiscale, Pii, "it_codice_fiscale", "[redacted: pii/it_codice_fiscale]";
    FrNir, Pii, "fr_nir", "[redacted: pii/fr_nir]";
    BrCpf, Pii, "br_cpf", "[redacted: pii/br_cpf]";
    InAadhaar, Pii, "in_aadhaar", "[redacted: pii/in_aadhaar]";
    Iban, Pii, "iban", "[redacted: pii/iban]";
    MacAddress, Pii, "mac_address", "[redacted: pii/mac_address]";
    Delimiter, Injection, "delimiter", "[redacted: injection/delimiter]";
    Role, Injection, "role", "[redacted: injection/role]";
    Context, Injection, "context", "[redacted: injection/context]";
    HiddenText, Injection, "hidden_text", "[redacted: injection/hidden_text]";
}

impl Category {
    /// All categories, in the order of the table.
    pub fn all() -> impl Iterator<Item = Category> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> (Guard, &'static str, &'static str) {
        TABLE
            .get(usize::from(self as u8))
            .map_or((Guard::Secrets, "", ""), |(_, guard, name, label)| (*guard, name, label))
    }

    pub fn guard(self) -> Guard {
        self.row().0
    }

    /// The name in the configuration file.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// The text that replaces redacted content.
    pub fn label(self) -> &'static str {
        self.row().2
    }

    pub fn parse(guard: Guard, name: &str) -> Option<Category> {
        Category::all().find(|category| category.guard() == guard && category.as_str() == name)
    }

    /// Returns true if the category is on by default. Entropy is off, because it also matches harmless random
    /// text.
    pub fn is_usual(self) -> bool {
        self != Category::Entropy
    }

    pub(super) fn bit(self) -> u64 {
        1 << (self as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::{Category, TABLE};

    #[test]
    fn the_table_is_in_the_order_of_the_variants_and_its_labels_name_the_row() {
        for (index, (category, guard, name, label)) in TABLE.iter().enumerate() {
            assert_eq!(usize::from(*category as u8), index);
            assert_eq!(*label, format!("[redacted: {}/{name}]", guard.as_str()));
            assert_eq!(Category::parse(*guard, name), Some(*category));
        }
        assert!(TABLE.len() <= 64);
    }
}

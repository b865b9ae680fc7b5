//! Errors of the API: HTTP 200, a code and a message.

use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) code: u32,
    pub(crate) message: Cow<'static, str>,
}

/// The result of a method.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub(crate) const fn new(code: u32, message: &'static str) -> ApiError {
        ApiError { code, message: Cow::Borrowed(message) }
    }

    pub(crate) fn unknown_method(name: &str) -> ApiError {
        ApiError { code: 112, message: format!("Method \"{name}\" not found").into() }
    }

    pub(crate) fn unknown_format(name: &str) -> ApiError {
        ApiError { code: 111, message: format!("Format \"{name}\" not found").into() }
    }
}

/// The failures the documentation lists.
macro_rules! documented {
    ($($name:ident = $code:literal $message:literal;)*) => {
        $(pub(crate) const $name: ApiError = ApiError::new($code, $message);)*
    };
}

documented! {
    BAD_SIGNATURE = 96 "Invalid signature";
    NO_SIGNATURE = 97 "Missing signature";
    BAD_TOKEN = 98 "Login failed / Invalid auth token";
    NOT_PERMITTED = 99 "User not logged in / Insufficient permissions";
    BAD_KEY = 100 "Invalid API Key";
    BAD_FROB = 101 "Invalid frob - did you authenticate?";
    UNAVAILABLE = 105 "Service currently unavailable";
    BAD_VERSION = 120 "Method not valid for requested version";
    BAD_TIMELINE = 300 "Timeline invalid or not provided";
    BAD_TRANSACTION = 310 "transaction_id invalid or not provided";
    BAD_LIST = 320 "list_id invalid or not provided";
    BAD_TASK = 340 "taskseries_id/task_id invalid or not provided";
    BAD_CONTACT = 1000 "Contact provided is invalid.";
    CONTACT_EXISTS = 1010 "Contact provided already exists.";
    NO_SUCH_PERSON = 1020 "Contact requested does not exist.";
    OWN_CONTACT = 1030 "Cannot add yourself as a contact.";
    BAD_LIST_NAME = 3000 "List name provided is invalid.";
    BAD_TASK_NAME = 4000 "Task name provided is invalid.";
    NEEDS_PRO = 4040 "Sub-tasks require a Pro account.";
    BAD_PARENT = 4050 "Parent task is invalid.";
    TOO_DEEP = 4060 "Sub-tasks may not be nested more than three levels deep.";
    REPEATING_FAMILY = 4070 "Repeating tasks can neither be sub-tasks nor have them.";
    START_AFTER_DUE = 4080 "Due date must not be before the start date.";
    OWN_PARENT = 4090 "A task cannot be its own parent.";
}

//! Stored files: failures of reading, writing and finding them.

crate::reasons! {
    pub(crate) static ROWS;

    SHELF_BAD_URI = "shelf/BAD_URI" {
        Malformed, BadShape, Caller,
        title: "the resource URI is malformed",
        detail: "the resource URI is malformed: {uri}",
        hint: "use a URI as the server returned it, `resource://type/sha256.ext`",
        about: "The URI of a stored file consists of a type, a hash and an extension. Any other form is rejected and never becomes a path.",
    }
    SHELF_BAD_NAME = "shelf/BAD_NAME" {
        Malformed, BadShape, Caller,
        title: "a name in the upload is not allowed",
        detail: "the {what} of the upload is not allowed: {name}",
        hint: "use a type of at most 32 lowercase letters, digits, `_` or `-` that starts with a letter; an extension of at most 16 lowercase letters and digits; a file name of at most 255 bytes without folders and hidden characters",
        about: "Types, extensions and file names are validated before the file is written. Paths, control characters and look-alike characters are rejected.",
    }
    SHELF_METADATA = "shelf/METADATA" {
        Invalid, BadParams, Caller,
        title: "the metadata is too large",
        detail: "the metadata has {size} bytes as JSON; the limit is {limit} bytes",
        hint: "send at most {limit} bytes of metadata, and store the rest as a separate resource",
        about: "Every list request reads the metadata, so its size is limited.",
    }
    SHELF_BAD_MULTIPART = "shelf/BAD_MULTIPART" {
        Malformed, BadShape, Caller,
        title: "the multipart body cannot be read",
        hint: "format the parts as in RFC 7578, with the boundary from the Content-Type header, at most 8 parts",
        about: "The body is not multipart form data, has too many parts, or has a part without a name. The upload was not stored.",
    }
    SHELF_CUT_OFF = "shelf/CUT_OFF" {
        Malformed, BadShape, Caller,
        title: "the upload is incomplete",
        hint: "send the whole upload again",
        about: "The connection or the body ended early. The received part was discarded.",
    }
    SHELF_TOO_LARGE = "shelf/TOO_LARGE" {
        Exhausted, TooLarge, Caller,
        title: "the resource is too large",
        detail: "the resource has {size} bytes or more; the limit is {limit} bytes",
        hint: "upload at most {limit} bytes, or have the operator raise `shelf.max_upload_bytes`",
        about: "The upload exceeded the limit. Reading stopped and the received part was discarded.",
    }
    SHELF_FULL = "shelf/FULL" {
        Exhausted, TooLarge, Failwell,
        title: "the storage quota is exhausted",
        detail: "the resource has {size} bytes; {free} of {limit} bytes are free",
        hint: "delete resources that are no longer needed, wait for some to expire, or have the operator raise `shelf.max_bytes`",
        about: "All resources share one quota. Removing expired resources did not free enough space.",
    }
    SHELF_CROWDED = "shelf/CROWDED" {
        Exhausted, TooLarge, Failwell,
        title: "too many resources are stored",
        detail: "{count} resources are stored; the limit is {limit}",
        hint: "delete resources that are no longer needed, wait for some to expire, or have the operator raise `shelf.max_items`",
        about: "The number of resources is limited. Removing expired resources was not enough.",
    }
    SHELF_SHARE_FULL = "shelf/SHARE_FULL" {
        Exhausted, TooLarge, Caller,
        title: "the caller's share of the storage is used up",
        detail: "the resource has {size} bytes; {free} of your {limit} bytes are free",
        hint: "delete resources that you no longer need, wait for some to expire, or have the operator raise `shelf.max_bytes_per_caller`",
        about: "Each caller has a share of the storage, so that no caller can use up all of it. Removing expired resources did not free enough space.",
    }
    SHELF_SHARE_CROWDED = "shelf/SHARE_CROWDED" {
        Exhausted, TooLarge, Caller,
        title: "the caller has too many stored resources",
        detail: "you have {count} stored resources; the limit is {limit}",
        hint: "delete resources that you no longer need, wait for some to expire, or have the operator raise `shelf.max_items_per_caller`",
        about: "Each caller may store a limited number of resources, so that no caller can use up all of them. Removing expired resources was not enough.",
    }
    SHELF_DISK_FULL = "shelf/DISK_FULL" {
        Unavailable, Unavailable, Failwell,
        title: "the disk is full",
        hint: "tell the operator; stored resources can still be read",
        about: "The disk had no space for the resource. The partial file was removed.",
    }
    SHELF_TROUBLE = "shelf/TROUBLE" {
        Unavailable, Unavailable, Failwell,
        title: "the folder of stored resources cannot be used",
        hint: "try again in a few seconds; if it persists, tell the operator",
        about: "The folder or its index could not be read or written. The operator's log has the system's error.",
    }
    SHELF_RANGE = "shelf/RANGE" {
        Invalid, Range, Caller,
        title: "the range is outside the resource",
        detail: "the range is outside the resource, which has {size} bytes",
        hint: "request bytes below {size}, or leave out the Range header",
        about: "The resource has none of the requested bytes.",
    }
}

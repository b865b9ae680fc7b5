//! The shelf: what can be wrong with resources that are kept here, and with bringing them.

reasons! {
    SHELF_BAD_URI = "shelf/BAD_URI" {
        Malformed, BadShape, Caller,
        title: "the resource URI is malformed",
        detail: "the resource URI is malformed: {uri}",
        hint: "use a URI as it was given, `resource://type/sha256.ext`",
        about: "A type is a name and what follows is a hash with an ending; nothing else is looked for, and nothing of it becomes a path.",
    }
    SHELF_BAD_NAME = "shelf/BAD_NAME" {
        Malformed, BadShape, Caller,
        title: "a name of the upload is not a name",
        detail: "the {what} of the upload is not a name: {name}",
        hint: "for a type use a small letter and then up to 31 small letters, digits, `_` or `-`; for a file a name without folders and without hidden characters, of at most 255 bytes",
        about: "Types, endings and file names are checked before anything is written. A path, a control or look-alike character in one of them is refused rather than cleaned up.",
    }
    SHELF_METADATA = "shelf/METADATA" {
        Invalid, BadParams, Caller,
        title: "the metadata is too large",
        detail: "the metadata has {size} bytes as JSON; at most {limit} are kept",
        hint: "send at most {limit} bytes of metadata, and the rest as a resource of its own",
        about: "Metadata says what a resource is; it is looked through with every list, so it is bounded.",
    }
    SHELF_BAD_MULTIPART = "shelf/BAD_MULTIPART" {
        Malformed, BadShape, Caller,
        title: "the multipart body cannot be read",
        hint: "write the parts as RFC 7578 says, with the boundary the header names, at most 8 of them",
        about: "The body is announced as a form and is none, has too many parts, or a part without a name. Nothing was kept.",
    }
    SHELF_CUT_OFF = "shelf/CUT_OFF" {
        Malformed, BadShape, Caller,
        title: "the upload ended before its end",
        hint: "send the whole upload again",
        about: "The connection or the body ended early. What had arrived was thrown away.",
    }
    SHELF_TOO_LARGE = "shelf/TOO_LARGE" {
        Exhausted, TooLarge, Caller,
        title: "the resource is too large",
        detail: "the resource has {size} bytes or more; at most {limit} are taken",
        hint: "bring at most {limit} bytes, or have the operator raise `shelf.max_upload_bytes`",
        about: "Reading stopped where the limit was passed, and what had arrived was thrown away.",
    }
    SHELF_FULL = "shelf/FULL" {
        Exhausted, TooLarge, Failwell,
        title: "there is no room left for the resource",
        detail: "the resource has {size} bytes, and {free} of {limit} are free",
        hint: "remove resources that are not needed, wait for some to expire, or have the operator raise `shelf.max_bytes`",
        about: "All resources together have a quota. What had expired was removed first, and it was not enough.",
    }
    SHELF_CROWDED = "shelf/CROWDED" {
        Exhausted, TooLarge, Failwell,
        title: "there are too many resources",
        detail: "{count} resources are kept; at most {limit} may be",
        hint: "remove resources that are not needed, wait for some to expire, or have the operator raise `shelf.max_items`",
        about: "The number of resources has a quota. What had expired was removed first, and it was not enough.",
    }
    SHELF_DISK_FULL = "shelf/DISK_FULL" {
        Unavailable, Unavailable, Failwell,
        title: "the disk is full",
        hint: "tell the operator; what is kept already can still be read",
        about: "The disk had no room for the resource. What had been written of it was removed.",
    }
    SHELF_TROUBLE = "shelf/TROUBLE" {
        Unavailable, Unavailable, Failwell,
        title: "the folder of resources cannot be used",
        hint: "try again in a few seconds, or tell the operator",
        about: "The folder or its index could not be read or written. The operator's log says what the system said.",
    }
    SHELF_RANGE = "shelf/RANGE" {
        Invalid, Range, Caller,
        title: "the range is outside of the resource",
        detail: "the range is outside of the resource, which has {size} bytes",
        hint: "ask for bytes below {size}, or for all of them without a Range header",
        about: "None of the bytes that were asked for is there.",
    }
}

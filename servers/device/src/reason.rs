//! The reasons of the device server.

pub(crate) use failwell_fault::reason::*;

failwell_fault::reasons! {
    DEVICE_NOT_CONFIGURED = "device/NOT_CONFIGURED" {
        Precondition, ToolFailed, Failwell,
        title: "no device is configured",
        hint: "ask the operator to add a [[device.devices]] table to failwell.toml",
        about: "A device is a phone, a simulator or a mobile browser with its driver: Appium, WebDriverAgent, chromedriver or simctl.",
    }
    DEVICE_UNKNOWN_DEVICE = "device/UNKNOWN_DEVICE" {
        NotFound, ToolFailed, Caller,
        title: "no such device",
        detail: "no such device: {wanted}",
        hint: "use a device that list_devices shows",
        about: "The operator's settings define the devices and their names.",
    }
    DEVICE_NO_SESSION = "device/NO_SESSION" {
        Precondition, ToolFailed, Caller,
        title: "no session is open",
        hint: "call start_session first",
        about: "All tools except those that list and start need a session. A caller with one open session does not have to name it.",
    }
    DEVICE_UNKNOWN_SESSION = "device/UNKNOWN_SESSION" {
        NotFound, ToolFailed, Caller,
        title: "no such session",
        detail: "no such session: {wanted}",
        hint: "use a session that list_sessions shows, or call start_session",
        about: "The session was stopped, expired without calls, or belongs to another caller.",
    }
    DEVICE_WHICH_SESSION = "device/WHICH_SESSION" {
        Invalid, ToolFailed, Caller,
        title: "several sessions are open",
        detail: "{count} sessions are open, and the call does not name one",
        hint: "pass session: one of the ids in list_sessions",
        about: "`session` is optional with one open session, and required with several.",
    }
    DEVICE_BUSY = "device/BUSY" {
        Exhausted, ToolFailed, Caller,
        title: "the device is busy",
        detail: "the device is busy: {why}",
        hint: "try again later, stop a session that is no longer needed (stop_session), or let start_session wait (wait_s)",
        about: "A device runs one call at a time. Calls queue in order, in limited number and for a limited time. start_session waits for a free device for at most `wait_s`.",
    }
    DEVICE_SESSION_NOT_CREATED = "device/SESSION_NOT_CREATED" {
        Broken, ToolFailed, Upstream,
        title: "the driver did not start a session",
        hint: "check capabilities and the device; the operator finds the driver's message under the reference",
        about: "The driver refused to start a session. Common causes: the device is not connected, the app is missing, a capability is unknown, or the browser does not start.",
    }
    DEVICE_SESSION_GONE = "device/SESSION_GONE" {
        Precondition, ToolFailed, Upstream,
        title: "the session is gone",
        hint: "call recover_session to continue under the same id with a fresh app, or start_session; the state of the screen is lost",
        about: "The driver no longer knows the session. The session expired, its app or browser crashed, or the driver was restarted.",
    }
    DEVICE_DRIVER_UNREACHABLE = "device/DRIVER_UNREACHABLE" {
        Unavailable, ToolFailed, Upstream,
        title: "the driver cannot be reached",
        hint: "ask the operator whether the driver is running (`failwell doctor` checks it), then try again; nothing was sent",
        about: "The connection to the driver's address failed. The device got no command.",
    }
    DEVICE_DRIVER_DIED = "device/DRIVER_DIED" {
        Broken, ToolFailed, Upstream,
        title: "the driver died during the command",
        hint: "call recover_session, then check the screen (get_screen_hierarchy) before repeating the action; {done}",
        about: "The connection broke after the command was sent, so its effect is unknown. The session has ended. A driver that Failwell started is restarted with the next session.",
    }
    DEVICE_DRIVER_START = "device/DRIVER_START" {
        Unavailable, ToolFailed, Failwell,
        title: "the driver could not be started",
        detail: "the driver could not be started: {why}",
        hint: "ask the operator to check command of the device in failwell.toml; its output is under the reference",
        about: "Failwell starts a driver that has a command for its first session, on a free port. The driver must respond within the start limit.",
    }
    DEVICE_TIMEOUT = "device/TIMEOUT" {
        Timeout, ToolFailed, Upstream,
        title: "the driver took too long to answer",
        detail: "the driver did not answer within {limit_s} seconds",
        hint: "check the screen (take_screenshot) before repeating the action; {done}",
        about: "The driver did not respond in time, or reported a timeout of its own. The command may still be running.",
    }
    DEVICE_BAD_ANSWER = "device/BAD_ANSWER" {
        Broken, ToolFailed, Upstream,
        title: "the driver sent an invalid response",
        detail: "the driver sent an invalid response: {why}",
        hint: "try once more; ask the operator whether the address is that of a WebDriver server",
        about: "The response is neither a W3C result nor a W3C error. Examples: an HTML page, a truncated document, a value of another type.",
    }
    DEVICE_TOO_LARGE = "device/TOO_LARGE" {
        Exhausted, ToolFailed, Upstream,
        title: "the driver's response is too large",
        detail: "the driver's response has {bytes} bytes; the limit is {limit_bytes} bytes",
        hint: "request less (a smaller picture, a part of the screen), or ask the operator to raise max_answer_bytes under [device]",
        about: "The size of a driver's response is limited to bound memory use. If the driver does not announce the size, `bytes` counts the bytes that were received.",
    }
    DEVICE_NO_SUCH_ELEMENT = "device/NO_SUCH_ELEMENT" {
        NotFound, ToolFailed, Caller,
        title: "no such element on the screen",
        detail: "no element with {strategy} `{wanted}` appeared within {limit_s} seconds",
        hint: "use selector or ref of the nearest elements below, or call get_screen_hierarchy; scroll_to finds elements further down",
        about: "The screen was searched until the timeout of the call. The response has a link to a screenshot and lists the nearest elements.",
    }
    DEVICE_STALE_REFERENCE = "device/STALE_REFERENCE" {
        NotFound, ToolFailed, Caller,
        title: "the reference matches no element",
        detail: "the reference {wanted} matches no element on the screen",
        hint: "call get_screen_hierarchy and use a ref from it: an element that is still there keeps its reference",
        about: "References come from get_screen_hierarchy and find_element, and are resolved again after every action. The element of this reference is gone, or the reference was never returned.",
    }
    DEVICE_STALE_ELEMENT = "device/STALE_ELEMENT" {
        Precondition, ToolFailed, Upstream,
        title: "the element changed while it was being used",
        hint: "call the tool again to look up the current element; use wait_for_condition while the screen is still changing",
        about: "The element was found, but the driver no longer knew it when the action ran. Several attempts failed.",
    }
    DEVICE_NOT_INTERACTABLE = "device/NOT_INTERACTABLE" {
        Precondition, ToolFailed, Upstream,
        title: "the element cannot be used now",
        detail: "the element cannot be used now: {why}",
        hint: "scroll to it (scroll_to), close the element that covers it, or wait until it is enabled (wait_for_condition)",
        about: "The element is hidden, disabled, outside the screen or covered by another element.",
    }
    DEVICE_ALERT_OPEN = "device/ALERT_OPEN" {
        Precondition, ToolFailed, Upstream,
        title: "an alert is open",
        hint: "call handle_alert with action accept or dismiss, then try again",
        about: "Drivers reject all other commands while an alert is open.",
    }
    DEVICE_NO_ALERT = "device/NO_ALERT" {
        Precondition, ToolFailed, Upstream,
        title: "no alert is open",
        hint: "continue without handle_alert, or set its timeout if the alert opens later",
        about: "handle_alert waited for an alert until its timeout.",
    }
    DEVICE_INVALID_SELECTOR = "device/INVALID_SELECTOR" {
        Invalid, ToolFailed, Caller,
        title: "the driver does not accept the selector",
        detail: "`{wanted}` is not a valid {strategy} for this driver",
        hint: "correct selector, or choose another strategy: all drivers support accessibility_id and xpath",
        about: "The driver rejected the selector or does not support the strategy.",
    }
    DEVICE_UNSUPPORTED = "device/UNSUPPORTED" {
        Unsupported, ToolFailed, Upstream,
        title: "the device does not support this",
        detail: "the driver of the device ({driver}) does not support {what}",
        hint: "use another tool, or another device that list_devices shows",
        about: "Drivers support different features. A missing feature is reported, never simulated.",
    }
    DEVICE_REFUSED = "device/REFUSED" {
        Broken, ToolFailed, Upstream,
        title: "the driver refused the command",
        detail: "the driver refused the command: {why}",
        hint: "check the screen (take_screenshot) and the arguments; the operator finds the driver's message under the reference",
        about: "The driver returned a W3C error that has no reason of its own here. Examples: invalid argument, unknown error, a closed window, a failed script.",
    }
    DEVICE_CAPABILITY_DENIED = "device/CAPABILITY_DENIED" {
        Denied, ToolFailed, Policy,
        title: "callers may not set this capability",
        detail: "callers may not set the capability `{name}`",
        hint: "leave it out, or ask the operator to add it to allow_capabilities under [device]",
        about: "Some capabilities let a driver run programs and read files on its machine. Callers may set only harmless ones.",
    }
    DEVICE_ADDRESS_DENIED = "device/ADDRESS_DENIED" {
        Denied, ToolFailed, Policy,
        title: "the address may not be opened",
        detail: "the address may not be opened: {why}",
        hint: "open an address with http, https or a scheme of the app under test",
        about: "Addresses that read local files or control the browser itself are rejected.",
    }
    DEVICE_APP_DENIED = "device/APP_DENIED" {
        Denied, ToolFailed, Policy,
        title: "the app may not be installed",
        detail: "the app may not be installed: {why}",
        hint: "pass app as a path below one of the folders in apps under [device]; the operator sets them",
        about: "The driver reads the file itself. Callers may use only the folders that the operator configured.",
    }
    DEVICE_INVALID_VALUE = "device/INVALID_VALUE" {
        Invalid, ToolFailed, Caller,
        title: "a value cannot be used",
        detail: "`{field}` cannot be used as it is: {why}",
        hint: "correct `{field}`: {help}",
        about: "Each argument matches its schema, but not together with the others or not on this device.",
    }
    DEVICE_NOT_FOUND_BY_SCROLLING = "device/NOT_FOUND_BY_SCROLLING" {
        NotFound, ToolFailed, Caller,
        title: "scrolling did not find the element",
        detail: "{count} swipes did not find {strategy} `{wanted}`",
        hint: "try the other direction, allow more swipes (max_swipes), or use selector of the nearest elements below",
        about: "scroll_to stops when the element is on the screen, when the screen no longer changes, or at its limit.",
    }
    DEVICE_STEP_FAILED = "device/STEP_FAILED" {
        Precondition, ToolFailed, Caller,
        title: "a step could not be executed",
        detail: "step {number} of {count} could not be executed: {code}",
        hint: "read the reason and the hint of the step in steps; the steps before it were executed",
        about: "run_steps and replay stop at the first step that cannot be executed, unless keep_going is set. An assertion that does not hold is a finding, not a failure.",
    }
    DEVICE_BAD_RECORDING = "device/BAD_RECORDING" {
        Invalid, ToolFailed, Caller,
        title: "the steps cannot be read",
        detail: "step {number} cannot be read: {why}",
        hint: "correct the step: tool is the name of a tool of this server, and arguments are its arguments without session",
        about: "A recording or a batch is validated before its first step runs. No step was executed.",
    }
    DEVICE_NOT_RECORDING = "device/NOT_RECORDING" {
        Precondition, ToolFailed, Caller,
        title: "no recording is running",
        hint: "call start_recording first",
        about: "A session records from start_recording to stop_recording.",
    }
    DEVICE_BAD_PICTURE = "device/BAD_PICTURE" {
        Invalid, ToolFailed, Caller,
        title: "the picture cannot be read",
        detail: "the picture cannot be read: {why}",
        hint: "pass the uri of a PNG that take_screenshot returned",
        about: "Pictures are compared as PNG, up to a limited number of pixels.",
    }
    DEVICE_SIMCTL = "device/SIMCTL" {
        Broken, ToolFailed, Upstream,
        title: "simctl failed",
        detail: "simctl failed with exit code {exit_code}",
        hint: "check that the simulator is booted and the app is installed; the operator finds simctl's output under the reference",
        about: "xcrun simctl exited with an error. Failwell starts it with an argument vector, never through a shell.",
    }
    DEVICE_KEPT_NOTHING = "device/KEPT_NOTHING" {
        NotFound, ToolFailed, Caller,
        title: "no such stored file",
        detail: "no such stored file: {uri}",
        hint: "pass a uri that take_screenshot, stop_recording or get_report returned; old files are removed",
        about: "Screenshots, recordings and reports are stored for a limited time and up to a limited size.",
    }
}

//! Device: what can go wrong between a caller and a screen.

reasons! {
    DEVICE_NOT_CONFIGURED = "device/NOT_CONFIGURED" {
        Precondition, ToolFailed, Failwell,
        title: "no device is configured",
        hint: "ask the operator to add a [[device.devices]] to failwell.toml",
        about: "A device is a phone, a simulator or a mobile browser together with the driver that reaches it: Appium, WebDriverAgent, chromedriver or simctl.",
    }
    DEVICE_UNKNOWN_DEVICE = "device/UNKNOWN_DEVICE" {
        NotFound, ToolFailed, Caller,
        title: "no such device",
        detail: "no such device: {wanted}",
        hint: "take device from list_devices",
        about: "Devices are named by the operator's settings.",
    }
    DEVICE_NO_SESSION = "device/NO_SESSION" {
        Precondition, ToolFailed, Caller,
        title: "no session is open",
        hint: "call start_session first",
        about: "Every tool but those that list and start works in a session. A caller with one open session need not name it.",
    }
    DEVICE_UNKNOWN_SESSION = "device/UNKNOWN_SESSION" {
        NotFound, ToolFailed, Caller,
        title: "no such session",
        detail: "no such session: {wanted}",
        hint: "take session from list_sessions, or call start_session",
        about: "A session that was stopped, that ended for want of calls, or that belongs to another caller.",
    }
    DEVICE_WHICH_SESSION = "device/WHICH_SESSION" {
        Invalid, ToolFailed, Caller,
        title: "several sessions are open",
        detail: "{count} sessions are open, and session names none of them",
        hint: "pass session: one of the ids in list_sessions",
        about: "With one open session it may be left out; with several it is never guessed.",
    }
    DEVICE_BUSY = "device/BUSY" {
        Exhausted, ToolFailed, Caller,
        title: "the device is busy",
        detail: "the device is busy: {why}",
        hint: "try again later, stop a session that is not needed (stop_session), or allow start_session to wait (wait_s)",
        about: "One device has one writer. Calls wait for their turn in the order they came, a limited number of them and for a limited time; sessions wait for a free device only as long as start_session allows.",
    }
    DEVICE_SESSION_NOT_CREATED = "device/SESSION_NOT_CREATED" {
        Broken, ToolFailed, Upstream,
        title: "the driver did not start a session",
        hint: "check capabilities and the device; the operator finds the driver's words under the reference",
        about: "The driver is there and refused: a device that is not connected, an app that is not there, a capability it does not know, a browser that does not start.",
    }
    DEVICE_SESSION_GONE = "device/SESSION_GONE" {
        Precondition, ToolFailed, Upstream,
        title: "the session is gone",
        hint: "call recover_session to go on under the same id with a fresh app, or start_session; what was on the screen is lost",
        about: "The driver does not know the session any more: it expired there, its app or browser crashed, or the driver was restarted.",
    }
    DEVICE_DRIVER_UNREACHABLE = "device/DRIVER_UNREACHABLE" {
        Unavailable, ToolFailed, Upstream,
        title: "the driver cannot be reached",
        hint: "ask the operator whether the driver runs (`failwell doctor` looks), then try again; nothing was sent",
        about: "No connection to the driver's address. Nothing reached the device.",
    }
    DEVICE_DRIVER_DIED = "device/DRIVER_DIED" {
        Broken, ToolFailed, Upstream,
        title: "the driver died while it was at work",
        hint: "call recover_session, then look at the screen (get_screen_hierarchy) before doing it again; {done}",
        about: "The connection broke off after the command was sent. Nobody knows whether the action was made. The session has ended; a driver that was started by this program is started again with the next session.",
    }
    DEVICE_DRIVER_START = "device/DRIVER_START" {
        Unavailable, ToolFailed, Failwell,
        title: "the driver could not be started",
        detail: "the driver could not be started: {why}",
        hint: "ask the operator to check command of the device in failwell.toml; its output is under the reference",
        about: "A driver with a command is started for its first session, on a free port, and must answer before the start limit.",
    }
    DEVICE_TIMEOUT = "device/TIMEOUT" {
        Timeout, ToolFailed, Upstream,
        title: "the driver took too long to answer",
        detail: "the driver did not answer within {limit_s} seconds",
        hint: "look at the screen (take_screenshot) before doing it again; {done}",
        about: "The command was sent and the answer did not come in time, or the driver said that its own time was up. The command may still be under way.",
    }
    DEVICE_BAD_ANSWER = "device/BAD_ANSWER" {
        Broken, ToolFailed, Upstream,
        title: "the answer of the driver makes no sense",
        detail: "the driver answered with something that makes no sense: {why}",
        hint: "try once more; ask the operator whether the address is that of a WebDriver",
        about: "Neither a W3C answer nor a W3C error: a page of HTML, half a document, a value of another type.",
    }
    DEVICE_TOO_LARGE = "device/TOO_LARGE" {
        Exhausted, ToolFailed, Upstream,
        title: "the answer of the driver is too large",
        detail: "the driver's answer has {bytes} bytes, and at most {limit_bytes} are taken",
        hint: "ask for less (a smaller picture, a part of the screen), or ask the operator to raise max_answer_bytes under [device]",
        about: "Answers of drivers are taken up to a limit, so that one screenshot cannot fill the memory. Where the driver does not say how much is coming, the number is what had come when it was refused.",
    }
    DEVICE_NO_SUCH_ELEMENT = "device/NO_SUCH_ELEMENT" {
        NotFound, ToolFailed, Caller,
        title: "no such element on the screen",
        detail: "no element with {strategy} `{wanted}` came up within {limit_s} seconds",
        hint: "take selector or ref from the nearest elements below, or call get_screen_hierarchy; scroll_to finds what is further down",
        about: "The screen was looked at until the timeout of the call. The answer has a link to a screenshot and the elements that come nearest.",
    }
    DEVICE_STALE_REFERENCE = "device/STALE_REFERENCE" {
        NotFound, ToolFailed, Caller,
        title: "the reference leads nowhere",
        detail: "the reference {wanted} leads to nothing on the screen",
        hint: "call get_screen_hierarchy and take ref from it: an element that is still there keeps its reference",
        about: "References come from get_screen_hierarchy and find_element. An action makes all of them be looked up anew; one whose element is gone, or that was never given out, is answered so.",
    }
    DEVICE_STALE_ELEMENT = "device/STALE_ELEMENT" {
        Precondition, ToolFailed, Upstream,
        title: "the element changed while it was being used",
        hint: "call the tool again: the element is looked up anew; use wait_for_condition when the screen is still moving",
        about: "The element was found, and the driver no longer knew it when it was to be used, several times over.",
    }
    DEVICE_NOT_INTERACTABLE = "device/NOT_INTERACTABLE" {
        Precondition, ToolFailed, Upstream,
        title: "the element cannot be used now",
        detail: "the element cannot be used now: {why}",
        hint: "scroll to it (scroll_to), close what lies over it, or wait until it is enabled (wait_for_condition)",
        about: "It is hidden, disabled, outside the screen or covered by another element.",
    }
    DEVICE_ALERT_OPEN = "device/ALERT_OPEN" {
        Precondition, ToolFailed, Upstream,
        title: "an alert is in the way",
        hint: "call handle_alert with action accept or dismiss, then try again",
        about: "While an alert is open drivers refuse everything else.",
    }
    DEVICE_NO_ALERT = "device/NO_ALERT" {
        Precondition, ToolFailed, Upstream,
        title: "no alert is open",
        hint: "go on without handle_alert, or give it a timeout if the alert is still to come",
        about: "handle_alert waited for one until its timeout.",
    }
    DEVICE_INVALID_SELECTOR = "device/INVALID_SELECTOR" {
        Invalid, ToolFailed, Caller,
        title: "the selector cannot be understood by the driver",
        detail: "`{wanted}` is no valid {strategy} for this driver",
        hint: "correct selector, or choose another strategy: accessibility_id and xpath are known everywhere",
        about: "The driver refused the selector or does not know the strategy.",
    }
    DEVICE_UNSUPPORTED = "device/UNSUPPORTED" {
        Unsupported, ToolFailed, Upstream,
        title: "this device cannot do that",
        detail: "this device cannot do that: {what} is nothing its driver ({driver}) knows",
        hint: "use another tool, or another device of list_devices",
        about: "Drivers differ in what they can do; what a back end cannot do is said rather than pretended.",
    }
    DEVICE_REFUSED = "device/REFUSED" {
        Broken, ToolFailed, Upstream,
        title: "the driver refused the command",
        detail: "the driver refused the command: {why}",
        hint: "look at the screen (take_screenshot) and check the arguments; the operator finds the driver's words under the reference",
        about: "A W3C error without a reason of its own here: invalid argument, unknown error, a window that is gone, a script that failed.",
    }
    DEVICE_CAPABILITY_DENIED = "device/CAPABILITY_DENIED" {
        Denied, ToolFailed, Policy,
        title: "the capability may not be set by callers",
        detail: "the capability `{name}` may not be set by callers",
        hint: "leave it out, or ask the operator to name it in allow_capabilities under [device]",
        about: "Capabilities can make a driver run programs and read files of its machine, so callers may set harmless ones only.",
    }
    DEVICE_ADDRESS_DENIED = "device/ADDRESS_DENIED" {
        Denied, ToolFailed, Policy,
        title: "the address may not be opened",
        detail: "the address may not be opened: {why}",
        hint: "open an address with http, https or a scheme of the app under test",
        about: "Addresses that read files of the machine or reach into the browser itself are refused.",
    }
    DEVICE_APP_DENIED = "device/APP_DENIED" {
        Denied, ToolFailed, Policy,
        title: "the app may not be installed",
        detail: "the app may not be installed: {why}",
        hint: "pass app as a path below one of the folders in apps under [device]; the operator sets them",
        about: "A driver reads the file itself, so only folders the operator named are open to callers.",
    }
    DEVICE_INVALID_VALUE = "device/INVALID_VALUE" {
        Invalid, ToolFailed, Caller,
        title: "a value cannot be used",
        detail: "`{field}` cannot be used as it is: {why}",
        hint: "correct `{field}`: {help}",
        about: "The arguments fit the schema one by one, but not together or not for this device.",
    }
    DEVICE_NOT_FOUND_BY_SCROLLING = "device/NOT_FOUND_BY_SCROLLING" {
        NotFound, ToolFailed, Caller,
        title: "scrolling did not bring the element up",
        detail: "{count} swipes did not bring up {strategy} `{wanted}`",
        hint: "try the other direction, allow more swipes (max_swipes), or take selector from the nearest elements below",
        about: "scroll_to swipes until the element is on the screen, until the screen no longer changes, or until its limit.",
    }
    DEVICE_STEP_FAILED = "device/STEP_FAILED" {
        Precondition, ToolFailed, Caller,
        title: "a step could not be done",
        detail: "step {number} of {count} could not be done: {code}",
        hint: "look at the step in steps: it has its own reason and hint; the steps before it were made",
        about: "run_steps and replay stop at the first step that fails, unless keep_going is set. An assertion that does not hold is no failure.",
    }
    DEVICE_BAD_RECORDING = "device/BAD_RECORDING" {
        Invalid, ToolFailed, Caller,
        title: "the steps cannot be read",
        detail: "step {number} cannot be read: {why}",
        hint: "correct the step: tool is the name of a tool of this server, arguments are its arguments without session",
        about: "A recording or a batch is read whole before its first step is made, so that nothing was done when this is answered.",
    }
    DEVICE_NOT_RECORDING = "device/NOT_RECORDING" {
        Precondition, ToolFailed, Caller,
        title: "nothing is being recorded",
        hint: "call start_recording first",
        about: "A session records from start_recording to stop_recording.",
    }
    DEVICE_BAD_PICTURE = "device/BAD_PICTURE" {
        Invalid, ToolFailed, Caller,
        title: "the picture cannot be read",
        detail: "the picture cannot be read: {why}",
        hint: "pass the uri of a PNG that take_screenshot gave",
        about: "Pictures are compared as PNG, up to a number of pixels that fits the memory.",
    }
    DEVICE_SIMCTL = "device/SIMCTL" {
        Broken, ToolFailed, Upstream,
        title: "simctl failed",
        detail: "simctl failed with exit code {exit_code}",
        hint: "check that the simulator is booted and the app installed; the operator finds simctl's words under the reference",
        about: "xcrun simctl ended with an error. It is started with an argument vector, never through a shell.",
    }
    DEVICE_KEPT_NOTHING = "device/KEPT_NOTHING" {
        NotFound, ToolFailed, Caller,
        title: "nothing is kept at that address",
        detail: "nothing is kept at {uri}",
        hint: "pass a uri that take_screenshot, stop_recording or get_report gave; old ones are forgotten",
        about: "Screenshots, recordings and reports are kept for a while and up to a size.",
    }
}

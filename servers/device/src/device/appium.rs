//! Appium, with any of its drivers. Apps are managed by the driver's own `mobile:` commands where it has them, else by
//! the endpoints Appium has for all of them.

use serde_json::{Map, Value, json};

use super::apps;
use super::{AppState, Device, Doing, Leave, Location, Permission};
use crate::screen::{Screen, of_xml};
use crate::w3c::{Client, ElementId, LogEntry, Started, Touch, Trouble};

/// A session of Appium.
pub(crate) struct Appium {
    client: Client,
    capabilities: Map<String, Value>,
    platform: Platform,
}

/// What the driver behind Appium drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Platform {
    Apple,
    Android,
    Other,
}

impl Appium {
    pub(crate) fn new(client: Client, started: Started) -> Appium {
        let named = started.capabilities.get("platformName").and_then(Value::as_str).unwrap_or_default();
        let platform = match named.to_ascii_lowercase().as_str() {
            "ios" | "tvos" | "mac" => Platform::Apple,
            "android" => Platform::Android,
            _ => Platform::Other,
        };
        Appium { client, capabilities: started.capabilities, platform }
    }

    /// What an app is called in the arguments of a `mobile:` command.
    fn app_key(&self) -> &'static str {
        if self.platform == Platform::Android { "appId" } else { "bundleId" }
    }

    /// A `mobile:` command, and where the driver has none the endpoint of Appium's own.
    async fn manage(
        &self,
        script: &str,
        arguments: Value,
        path: &str,
        body: Value,
    ) -> Result<Value, Trouble> {
        match self.client.act_by_script(script, json!([arguments])).await {
            Err(trouble) if trouble.is_unsupported() => self.client.own(path, body, Touch::Acts).await,
            ended => ended,
        }
    }
}

impl Device for Appium {
    fn driver(&self) -> &'static str {
        "appium"
    }

    fn wire(&self) -> Option<&Client> {
        Some(&self.client)
    }

    fn described(&self) -> Value {
        apps::described(&self.capabilities)
    }

    fn look(&self) -> Doing<'_, Screen> {
        Box::pin(async move { of_xml(&self.client.source().await?) })
    }

    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> Doing<'a, ()> {
        Box::pin(apps::pick(&self.client, element, value))
    }

    fn locate(&self, at: Location) -> Doing<'_, ()> {
        Box::pin(async move {
            let place = json!({"latitude": at.latitude, "longitude": at.longitude, "altitude": at.altitude});
            if self.platform == Platform::Apple {
                let done = self.client.act_by_script("mobile: setSimulatedLocation", json!([place])).await;
                match done {
                    Err(trouble) if trouble.is_unsupported() => {}
                    ended => return ended.map(drop),
                }
            }
            self.client.set_location(place).await
        })
    }

    fn permit<'a>(&'a self, app: &'a str, permission: Permission, grant: Leave) -> Doing<'a, ()> {
        Box::pin(async move {
            let done = match self.platform {
                Platform::Android => {
                    let action = match grant {
                        Leave::Grant => "grant",
                        Leave::Revoke | Leave::Reset => "revoke",
                    };
                    let permissions = apps::android_permissions(permission);
                    let arguments =
                        json!([{"appPackage": app, "permissions": permissions, "action": action}]);
                    self.client.act_by_script("mobile: changePermissions", arguments).await
                }
                Platform::Apple if grant == Leave::Reset => {
                    let service = apps::apple_service(permission);
                    let arguments = json!([{"bundleId": app, "service": service}]);
                    self.client.act_by_script("mobile: resetPermission", arguments).await
                }
                Platform::Apple => {
                    let word = if grant == Leave::Grant { "yes" } else { "no" };
                    let access = json!({apps::apple_service(permission): word});
                    let arguments = json!([{"bundleId": app, "access": access}]);
                    self.client.act_by_script("mobile: setPermission", arguments).await
                }
                Platform::Other => Err(Trouble::Unsupported("permissions")),
            };
            done.map(drop)
        })
    }

    fn install<'a>(&'a self, path: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let key = if self.platform == Platform::Android { "appPath" } else { "app" };
            let body = json!({"appPath": path});
            self.manage("mobile: installApp", json!({key: path}), "/appium/device/install_app", body)
                .await
                .map(drop)
        })
    }

    fn launch<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let script =
                if self.platform == Platform::Apple { "mobile: launchApp" } else { "mobile: activateApp" };
            let arguments = json!({self.app_key(): app});
            let body = json!({"appId": app, "bundleId": app});
            self.manage(script, arguments, "/appium/device/activate_app", body).await.map(drop)
        })
    }

    fn terminate<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let arguments = json!({self.app_key(): app});
            let body = json!({"appId": app, "bundleId": app});
            self.manage("mobile: terminateApp", arguments, "/appium/device/terminate_app", body)
                .await
                .map(drop)
        })
    }

    fn reset<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let arguments = json!([{self.app_key(): app}]);
            self.client.act_by_script("mobile: clearApp", arguments).await.map(drop)
        })
    }

    fn app_state<'a>(&'a self, app: &'a str) -> Doing<'a, AppState> {
        Box::pin(async move {
            let arguments = json!({self.app_key(): app});
            let body = json!({"appId": app, "bundleId": app});
            let state =
                self.manage("mobile: queryAppState", arguments, "/appium/device/app_state", body).await?;
            Ok(state.as_u64().map_or(AppState::Unknown, AppState::of_number))
        })
    }

    fn open<'a>(&'a self, url: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let done = self.client.act_by_script("mobile: deepLink", json!([{"url": url}])).await;
            match done {
                Err(trouble) if trouble.is_unsupported() => self.client.go(url).await,
                ended => ended.map(drop),
            }
        })
    }

    fn logs<'a>(&'a self, kind: Option<&'a str>) -> Doing<'a, Vec<LogEntry>> {
        Box::pin(async move {
            let usual = match self.platform {
                Platform::Apple => "syslog",
                Platform::Android => "logcat",
                Platform::Other => "server",
            };
            self.client.log("/se/log", kind.unwrap_or(usual)).await
        })
    }
}

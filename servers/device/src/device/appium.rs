//! Appium with any of its drivers. Apps are managed with the driver's `mobile:` commands, otherwise with
//! Appium's common endpoints.

use serde_json::{Map, Value, json};

use super::apps;
use super::{AppState, Device, DeviceFuture, Location, Permission, PermissionChange};
use crate::screen::{Screen, parse_xml};
use crate::w3c::{Access, DriverError, ElementId, LogEntry, NewSession, WebDriverClient};

pub(crate) struct Appium {
    client: WebDriverClient,
    capabilities: Map<String, Value>,
    platform: Platform,
}

/// The platform of the driver behind Appium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Platform {
    Apple,
    Android,
    Other,
}

impl Appium {
    pub(crate) fn new(client: WebDriverClient, started: NewSession) -> Appium {
        let named = started.capabilities.get("platformName").and_then(Value::as_str).unwrap_or_default();
        let platform = match named.to_ascii_lowercase().as_str() {
            "ios" | "tvos" | "mac" => Platform::Apple,
            "android" => Platform::Android,
            _ => Platform::Other,
        };
        Appium { client, capabilities: started.capabilities, platform }
    }

    /// The argument name of an app in a `mobile:` command.
    fn app_key(&self) -> &'static str {
        if self.platform == Platform::Android { "appId" } else { "bundleId" }
    }

    /// Runs a `mobile:` command, or Appium's own endpoint if the driver does not have it.
    async fn manage(
        &self,
        script: &str,
        arguments: Value,
        path: &str,
        body: Value,
    ) -> Result<Value, DriverError> {
        match self.client.act_by_script(script, json!([arguments])).await {
            Err(trouble) if trouble.is_unsupported() => self.client.own(path, body, Access::Acts).await,
            ended => ended,
        }
    }
}

impl Device for Appium {
    fn driver(&self) -> &'static str {
        "appium"
    }

    fn client(&self) -> Option<&WebDriverClient> {
        Some(&self.client)
    }

    fn capabilities(&self) -> Value {
        apps::capabilities(&self.capabilities)
    }

    fn look(&self) -> DeviceFuture<'_, Screen> {
        Box::pin(async move { parse_xml(&self.client.source().await?) })
    }

    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(apps::pick(&self.client, element, value))
    }

    fn locate(&self, at: Location) -> DeviceFuture<'_, ()> {
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

    fn permit<'a>(
        &'a self,
        app: &'a str,
        permission: Permission,
        grant: PermissionChange,
    ) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let done = match self.platform {
                Platform::Android => {
                    let action = match grant {
                        PermissionChange::Grant => "grant",
                        PermissionChange::Revoke | PermissionChange::Reset => "revoke",
                    };
                    let permissions = apps::android_permissions(permission);
                    let arguments =
                        json!([{"appPackage": app, "permissions": permissions, "action": action}]);
                    self.client.act_by_script("mobile: changePermissions", arguments).await
                }
                Platform::Apple if grant == PermissionChange::Reset => {
                    let service = apps::apple_service(permission);
                    let arguments = json!([{"bundleId": app, "service": service}]);
                    self.client.act_by_script("mobile: resetPermission", arguments).await
                }
                Platform::Apple => {
                    let word = if grant == PermissionChange::Grant { "yes" } else { "no" };
                    let access = json!({apps::apple_service(permission): word});
                    let arguments = json!([{"bundleId": app, "access": access}]);
                    self.client.act_by_script("mobile: setPermission", arguments).await
                }
                Platform::Other => Err(DriverError::Unsupported("permissions")),
            };
            done.map(drop)
        })
    }

    fn install<'a>(&'a self, path: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let key = if self.platform == Platform::Android { "appPath" } else { "app" };
            let body = json!({"appPath": path});
            self.manage("mobile: installApp", json!({key: path}), "/appium/device/install_app", body)
                .await
                .map(drop)
        })
    }

    fn launch<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let script =
                if self.platform == Platform::Apple { "mobile: launchApp" } else { "mobile: activateApp" };
            let arguments = json!({self.app_key(): app});
            let body = json!({"appId": app, "bundleId": app});
            self.manage(script, arguments, "/appium/device/activate_app", body).await.map(drop)
        })
    }

    fn terminate<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let arguments = json!({self.app_key(): app});
            let body = json!({"appId": app, "bundleId": app});
            self.manage("mobile: terminateApp", arguments, "/appium/device/terminate_app", body)
                .await
                .map(drop)
        })
    }

    fn reset<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let arguments = json!([{self.app_key(): app}]);
            self.client.act_by_script("mobile: clearApp", arguments).await.map(drop)
        })
    }

    fn app_state<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, AppState> {
        Box::pin(async move {
            let arguments = json!({self.app_key(): app});
            let body = json!({"appId": app, "bundleId": app});
            let state =
                self.manage("mobile: queryAppState", arguments, "/appium/device/app_state", body).await?;
            Ok(state.as_u64().map_or(AppState::Unknown, AppState::of_number))
        })
    }

    fn open<'a>(&'a self, url: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let done = self.client.act_by_script("mobile: deepLink", json!([{"url": url}])).await;
            match done {
                Err(trouble) if trouble.is_unsupported() => self.client.go(url).await,
                ended => ended.map(drop),
            }
        })
    }

    fn logs<'a>(&'a self, kind: Option<&'a str>) -> DeviceFuture<'a, Vec<LogEntry>> {
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

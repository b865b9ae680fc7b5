use failwell_sdk::{Context, Fault, Info, JsonSchema, Tool, Toolbox, run};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// How many to buy.
    #[schemars(range(min = 1, max = 100))]
    count: u32,
}

#[derive(Serialize, JsonSchema)]
struct Price {
    cents: u32,
}

async fn price(order: Order, _cx: Context) -> Result<Price, Fault> {
    Ok(Price { cents: order.count.saturating_mul(250) })
}

fn main() -> std::process::ExitCode {
    run(|| Ok(Toolbox::new(Info::new("shop", "1.0.0")).tool(Tool::typed("price", "Prices an order.", price)?)))
}

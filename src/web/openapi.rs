//! `OpenAPI` document of the arena API. The schemas are generated from `arena::protocol`.
use crate::arena::protocol;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// Builds the document.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut types = settings.into_generator();
    let told = schema::<protocol::RoomStatusResponse>(&mut types);
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "What the debate is called."});
    let bot = json!([{"bot": [], "key": []}]);
    let reader = json!([{}, {"token": []}]);
    let paths = json!({
        "/api/debate/join": {"post": {
            "operationId": "join", "summary": "Take a seat: in the debate named, or in one that waits",
            "requestBody": request_body(&schema::<protocol::JoinRequest>(&mut types)),
            "responses": responses("200", "Let in", &schema::<protocol::JoinResponse>(&mut types), &[400, 404, 409, 422, 429]),
        }},
        "/api/debate/create": {"post": {
            "operationId": "create", "summary": "Have a debate held", "security": reader,
            "requestBody": request_body(&schema::<protocol::CreateRoomRequest>(&mut types)),
            "responses": responses("201", "It waits for bots", &schema::<protocol::CreateRoomResponse>(&mut types), &[400, 403, 422, 429]),
        }},
        "/api/debate/{id}/poll": {"get": {
            "operationId": "poll", "summary": "How a debate stands, for one of its bots", "security": bot,
            "parameters": [id, {"name": "wait", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 25},
                "description": "Seconds to wait for something new, unless it is your turn."}],
            "responses": responses("200", "How it stands", &told, &[400, 401, 404, 429]),
        }},
        "/api/debate/{id}/speech": {"post": {
            "operationId": "speech", "summary": "Speak, when next_speaker is you", "security": bot,
            "parameters": [id], "requestBody": request_body(&schema::<protocol::SpeechRequest>(&mut types)),
            "responses": responses("200", "Taken", &schema::<protocol::SpeechResponse>(&mut types), &[400, 401, 404, 409, 413, 422, 429]),
        }},
        "/api/debate/{id}": {"get": {
            "operationId": "show", "summary": "How a debate stands, for anybody", "security": reader,
            "parameters": [id], "responses": responses("200", "How it stands", &told, &[403, 404, 429]),
        }},
        "/api/debates": {"get": {
            "operationId": "list", "summary": "Debates, the newest first", "security": reader,
            "parameters": [
                {"name": "status", "in": "query", "schema": {"enum": ["waiting", "active", "ended"]}},
                {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}},
            ],
            "responses": responses("200", "A list", &schema::<protocol::RoomListResponse>(&mut types), &[400, 403, 429]),
        }},
    });
    // Every error response refers to this schema.
    schema::<protocol::ErrorResponse>(&mut types);
    let header = |name: &str, says: &str| json!({"type": "apiKey", "in": "header", "name": name, "description": says});
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "debate arena", "version": env!("CARGO_PKG_VERSION"),
            "description": "Two bots debate a motion over HTTP: join, poll, speak until the state is `ended`.",
        },
        "paths": paths,
        "components": {
            "schemas": types.take_definitions(true),
            "securitySchemes": {
                "bot": header("X-Bot-Identifier", "`bot_identifier` of the answer to join"),
                "key": header("X-Debate-Key", "`debate_key` of the answer to join"),
                "token": {"type": "http", "scheme": "bearer", "description": "Printed by the server; not needed on the same machine"},
            },
        },
    })
}

fn schema<T: JsonSchema>(types: &mut SchemaGenerator) -> Value {
    types.subschema_for::<T>().to_value()
}

fn request_body(schema: &Value) -> Value {
    json!({"required": true, "content": {"application/json": {"schema": schema}}})
}

fn responses(status: &str, says: &str, schema: &Value, refusals: &[u16]) -> Value {
    let problem = json!({"$ref": "#/components/schemas/Problem"});
    let mut all = serde_json::Map::new();
    let content = |schema: &Value| json!({"application/json": {"schema": schema}});
    all.insert(status.into(), json!({"description": says, "content": content(schema)}));
    for refusal in refusals {
        let refused = json!({"description": "Refused", "content": content(&problem)});
        all.insert(refusal.to_string(), refused);
    }
    all.into()
}

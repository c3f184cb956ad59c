//! `OpenAPI` document of the arena API. The schemas are generated from `arena::protocol`.
use crate::arena::{MAX_LISTED, MAX_POLL_WAIT_SECONDS, protocol};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// Builds the document.
pub(super) fn document() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut types = settings.into_generator();
    let status_schema = schema::<protocol::RoomStatusResponse>(&mut types);
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "Id of the debate."});
    let bot = json!([{"bot": [], "key": []}]);
    let reader = json!([{}, {"token": []}]);
    let paths = json!({
        "/api/debate/join": {"post": {
            "operationId": "join", "summary": "Join a debate: the named one, or one that waits for a bot",
            "requestBody": request_body(&schema::<protocol::JoinRequest>(&mut types)),
            "responses": responses("200", "Joined", &schema::<protocol::JoinResponse>(&mut types), &[400, 404, 409, 422, 429]),
        }},
        "/api/debate/create": {"post": {
            "operationId": "create", "summary": "Create a debate", "security": reader,
            "requestBody": request_body(&schema::<protocol::CreateRoomRequest>(&mut types)),
            "responses": responses("201", "Created, waiting for bots", &schema::<protocol::CreateRoomResponse>(&mut types), &[400, 403, 422, 429]),
        }},
        "/api/debate/{id}/poll": {"get": {
            "operationId": "poll", "summary": "Status of a debate, for one of its bots", "security": bot,
            "parameters": [id, {"name": "wait", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": MAX_POLL_WAIT_SECONDS},
                "description": "Long poll: seconds to wait for a change, unless it is your turn."}],
            "responses": responses("200", "Status", &status_schema, &[400, 401, 404, 429]),
        }},
        "/api/debate/{id}/speech": {"post": {
            "operationId": "speech", "summary": "Speak, when next_speaker is you", "security": bot,
            "parameters": [id], "requestBody": request_body(&schema::<protocol::SpeechRequest>(&mut types)),
            "responses": responses("200", "Speech accepted", &schema::<protocol::SpeechResponse>(&mut types), &[400, 401, 404, 409, 413, 422, 429]),
        }},
        "/api/debate/{id}": {"get": {
            "operationId": "show", "summary": "Public status of a debate", "security": reader,
            "parameters": [id], "responses": responses("200", "Status", &status_schema, &[403, 404, 429]),
        }},
        "/api/debates": {"get": {
            "operationId": "list", "summary": "List debates, newest first", "security": reader,
            "parameters": [
                {"name": "status", "in": "query", "schema": {"enum": ["waiting", "active", "ended"]}},
                {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LISTED}},
            ],
            "responses": responses("200", "Debates", &schema::<protocol::RoomListResponse>(&mut types), &[400, 403, 429]),
        }},
    });
    // Every error response refers to this schema.
    schema::<protocol::ErrorResponse>(&mut types);
    let header = |name: &str, description: &str| json!({"type": "apiKey", "in": "header", "name": name, "description": description});
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

fn responses(status: &str, description: &str, schema: &Value, error_statuses: &[u16]) -> Value {
    let error_schema = json!({"$ref": "#/components/schemas/Problem"});
    let mut map = serde_json::Map::new();
    let content = |schema: &Value| json!({"application/json": {"schema": schema}});
    map.insert(status.into(), json!({"description": description, "content": content(schema)}));
    for error_status in error_statuses {
        let response = json!({"description": "Refused", "content": content(&error_schema)});
        map.insert(error_status.to_string(), response);
    }
    map.into()
}

#[cfg(test)]
mod tests;

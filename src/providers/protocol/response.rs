//! Parses the response stream of the four protocols, event by event: text, model, token counts,
//! refusal, error and end. The protocols are Anthropic Messages, `OpenAI` Responses, `OpenAI` Chat
//! Completions and Google Gemini. The entry point is [`ApiResponse::parse_event`], which `api`
//! calls for every server-sent event.
use super::Protocol;
use serde_json::Value;

/// A response as parsed so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ApiResponse {
    /// Text of the answer.
    pub text: String,
    /// Model name reported by the service.
    pub model: Option<String>,
    /// Input tokens, including cache reads and writes.
    pub tokens_in: Option<u64>,
    /// Output tokens, including reasoning tokens.
    pub tokens_out: Option<u64>,
    /// Why the model or a content filter refused; empty if no reason was given.
    pub refusal: Option<String>,
    /// The answer was truncated at the token limit.
    pub truncated: bool,
    /// A finish reason or the final event was received. A stream that ends before was interrupted.
    pub completed: bool,
    /// The final event or an error was received, so reading can stop. A finish reason alone does
    /// not set it, because token counts may follow.
    pub done: bool,
    /// Error event as sent by the service.
    pub error: Option<Value>,
}

/// The event data is not a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MalformedEvent;

impl ApiResponse {
    /// Parses the data of one event and returns the text it adds, if any.
    pub(crate) fn parse_event(
        &mut self,
        protocol: Protocol,
        data: &str,
    ) -> Result<Option<String>, MalformedEvent> {
        if protocol == Protocol::Chat && data.trim() == "[DONE]" {
            (self.completed, self.done) = (true, true);
            return Ok(None);
        }
        let event: Value = serde_json::from_str(data).map_err(|_| MalformedEvent)?;
        if !event.is_object() {
            return Err(MalformedEvent);
        }
        if event["error"].is_object() || event["error"].is_string() {
            self.set_error(&event);
            return Ok(None);
        }
        let delta = match protocol {
            Protocol::Anthropic => self.parse_anthropic(&event),
            Protocol::Responses => self.parse_responses(&event),
            Protocol::Chat => self.parse_chat(&event),
            Protocol::Gemini => self.parse_gemini(&event),
        };
        let delta = delta.filter(|delta| !delta.is_empty());
        self.text.push_str(delta.as_deref().unwrap_or_default());
        Ok(delta)
    }

    fn set_error(&mut self, event: &Value) {
        self.error = Some(event.clone());
        self.done = true;
    }

    fn parse_anthropic(&mut self, event: &Value) -> Option<String> {
        match event["type"].as_str()? {
            "message_start" => {
                self.model = string_value(&event["message"]["model"]);
                self.parse_anthropic_usage(&event["message"]["usage"]);
            }
            "content_block_delta" => return string_value(&event["delta"]["text"]),
            "message_delta" => {
                self.parse_anthropic_usage(&event["usage"]);
                match event["delta"]["stop_reason"].as_str() {
                    Some("refusal") => self.refusal = Some(String::new()),
                    Some("max_tokens" | "model_context_window_exceeded") => self.truncated = true,
                    _ => {}
                }
            }
            "message_stop" => (self.completed, self.done) = (true, true),
            _ => {}
        }
        None
    }

    fn parse_anthropic_usage(&mut self, usage: &Value) {
        // Cached tokens are reported separately.
        let input_tokens =
            ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input_tokens =
            input_tokens.iter().filter_map(|name| usage[*name].as_u64()).reduce(|sum, n| sum + n);
        self.tokens_in = input_tokens.or(self.tokens_in);
        self.tokens_out = usage["output_tokens"].as_u64().or(self.tokens_out);
    }

    fn parse_responses(&mut self, event: &Value) -> Option<String> {
        let response = &event["response"];
        self.model = string_value(&response["model"]).or(self.model.take());
        self.tokens_in = response["usage"]["input_tokens"].as_u64().or(self.tokens_in);
        self.tokens_out = response["usage"]["output_tokens"].as_u64().or(self.tokens_out);
        match event["type"].as_str()? {
            "response.output_text.delta" => return string_value(&event["delta"]),
            "response.refusal.delta" => {
                let delta = event["delta"].as_str().unwrap_or_default();
                self.refusal.get_or_insert_default().push_str(delta);
            }
            "response.completed" => {
                (self.completed, self.done) = (true, true);
                // The final event contains the complete answer, which replaces the streamed text.
                let final_text = output_text(&response["output"]);
                if !final_text.is_empty() {
                    self.text = final_text;
                }
            }
            "response.incomplete" => {
                (self.completed, self.done) = (true, true);
                match response["incomplete_details"]["reason"].as_str() {
                    Some("content_filter") => self.refusal = Some(String::new()),
                    _ => self.truncated = true,
                }
            }
            "response.failed" => self.set_error(response),
            "error" => self.set_error(event),
            _ => {}
        }
        None
    }

    fn parse_chat(&mut self, event: &Value) -> Option<String> {
        self.model = string_value(&event["model"]).or(self.model.take());
        self.tokens_in = event["usage"]["prompt_tokens"].as_u64().or(self.tokens_in);
        self.tokens_out = event["usage"]["completion_tokens"].as_u64().or(self.tokens_out);
        let choice = &event["choices"][0];
        if let Some(delta) = choice["delta"]["refusal"].as_str() {
            self.refusal.get_or_insert_default().push_str(delta);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            // The token usage may follow in a later event.
            self.completed = true;
            match reason {
                "length" => self.truncated = true,
                "content_filter" => self.refusal = self.refusal.take().or(Some(String::new())),
                _ => {}
            }
        }
        string_value(&choice["delta"]["content"])
    }

    fn parse_gemini(&mut self, event: &Value) -> Option<String> {
        self.model = string_value(&event["modelVersion"]).or(self.model.take());
        let usage = &event["usageMetadata"];
        self.tokens_in = usage["promptTokenCount"].as_u64().or(self.tokens_in);
        let output_tokens = ["candidatesTokenCount", "thoughtsTokenCount"];
        let output_tokens = output_tokens.iter().filter_map(|name| usage[*name].as_u64());
        self.tokens_out = output_tokens.reduce(|sum, n| sum + n).or(self.tokens_out);
        if let Some(reason) = event["promptFeedback"]["blockReason"].as_str() {
            self.completed = true;
            self.refusal = Some(format!("the prompt was blocked: {reason}"));
        }
        let candidate = &event["candidates"][0];
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.completed = true;
            match reason {
                "STOP" | "FINISH_REASON_UNSPECIFIED" => {}
                "MAX_TOKENS" => self.truncated = true,
                reason => self.refusal = Some(format!("the answer was blocked: {reason}")),
            }
        }
        // Reasoning parts are not part of the answer.
        let parts = candidate["content"]["parts"].as_array()?.iter();
        let visible_parts = parts.filter(|part| part["thought"] != true);
        Some(visible_parts.filter_map(|part| part["text"].as_str()).collect())
    }
}

/// The text of all messages in the `response.completed` event (Responses API).
fn output_text(output: &Value) -> String {
    let items = output.as_array().into_iter().flatten();
    let messages = items.filter(|item| item["type"] == "message");
    let parts = messages.filter_map(|item| item["content"].as_array()).flatten();
    let text_parts = parts.filter(|part| part["type"] == "output_text");
    text_parts.filter_map(|part| part["text"].as_str()).collect()
}

fn string_value(value: &Value) -> Option<String> {
    value.as_str().map(Into::into)
}

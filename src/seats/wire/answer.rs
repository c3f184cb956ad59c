//! Parses the response stream of each protocol, event by event: text, model, token counts, refusal,
//! error and end. The main type is [`ApiResponse`].
use super::Wire;
use serde_json::Value;

/// A response as parsed so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Text of the answer.
    pub text: String,
    /// Model name reported by the service.
    pub model: Option<String>,
    /// Input tokens, including cache reads and writes.
    pub tokens_in: Option<u64>,
    /// Output tokens, including reasoning tokens.
    pub tokens_out: Option<u64>,
    /// Why the model or a content filter refused; empty if no reason was given.
    pub refused: Option<String>,
    /// The answer was truncated at the token limit.
    pub cut: bool,
    /// The service reported a finish reason.
    pub ended: bool,
    /// No more events are expected.
    pub over: bool,
    /// Error event as sent by the service.
    pub error: Option<Value>,
}

/// The event data is not a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbage;

impl Answer {
    /// Parses the data of one event and returns the text it adds, if any.
    pub fn event(&mut self, wire: Wire, data: &str) -> Result<Option<String>, Garbage> {
        if wire == Wire::Chat && data.trim() == "[DONE]" {
            (self.ended, self.over) = (true, true);
            return Ok(None);
        }
        let it: Value = serde_json::from_str(data).map_err(|_| Garbage)?;
        if !it.is_object() {
            return Err(Garbage);
        }
        if it["error"].is_object() || it["error"].is_string() {
            self.failed(&it);
            return Ok(None);
        }
        let words = match wire {
            Wire::Anthropic => self.anthropic(&it),
            Wire::Responses => self.responses(&it),
            Wire::Chat => self.chat(&it),
            Wire::Gemini => self.gemini(&it),
        };
        let words = words.filter(|words| !words.is_empty());
        self.text.push_str(words.as_deref().unwrap_or_default());
        Ok(words)
    }

    fn failed(&mut self, it: &Value) {
        self.error = Some(it.clone());
        self.over = true;
    }

    fn anthropic(&mut self, it: &Value) -> Option<String> {
        match it["type"].as_str()? {
            "message_start" => {
                self.model = text(&it["message"]["model"]);
                self.anthropic_usage(&it["message"]["usage"]);
            }
            "content_block_delta" => return text(&it["delta"]["text"]),
            "message_delta" => {
                self.anthropic_usage(&it["usage"]);
                match it["delta"]["stop_reason"].as_str() {
                    Some("refusal") => self.refused = Some(String::new()),
                    Some("max_tokens" | "model_context_window_exceeded") => self.cut = true,
                    _ => {}
                }
            }
            "message_stop" => (self.ended, self.over) = (true, true),
            _ => {}
        }
        None
    }

    fn anthropic_usage(&mut self, usage: &Value) {
        // Cached tokens are reported separately.
        let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let read = read.iter().filter_map(|name| usage[*name].as_u64()).reduce(|sum, n| sum + n);
        self.tokens_in = read.or(self.tokens_in);
        self.tokens_out = usage["output_tokens"].as_u64().or(self.tokens_out);
    }

    fn responses(&mut self, it: &Value) -> Option<String> {
        let response = &it["response"];
        self.model = text(&response["model"]).or(self.model.take());
        self.tokens_in = response["usage"]["input_tokens"].as_u64().or(self.tokens_in);
        self.tokens_out = response["usage"]["output_tokens"].as_u64().or(self.tokens_out);
        match it["type"].as_str()? {
            "response.output_text.delta" => return text(&it["delta"]),
            "response.refusal.delta" => {
                let said = it["delta"].as_str().unwrap_or_default();
                self.refused.get_or_insert_default().push_str(said);
            }
            "response.completed" => {
                (self.ended, self.over) = (true, true);
                // The final event contains the complete answer, which replaces the streamed text.
                let whole = whole(&response["output"]);
                if !whole.is_empty() {
                    self.text = whole;
                }
            }
            "response.incomplete" => {
                (self.ended, self.over) = (true, true);
                match response["incomplete_details"]["reason"].as_str() {
                    Some("content_filter") => self.refused = Some(String::new()),
                    _ => self.cut = true,
                }
            }
            "response.failed" => self.failed(response),
            "error" => self.failed(it),
            _ => {}
        }
        None
    }

    fn chat(&mut self, it: &Value) -> Option<String> {
        self.model = text(&it["model"]).or(self.model.take());
        self.tokens_in = it["usage"]["prompt_tokens"].as_u64().or(self.tokens_in);
        self.tokens_out = it["usage"]["completion_tokens"].as_u64().or(self.tokens_out);
        let choice = &it["choices"][0];
        if let Some(said) = choice["delta"]["refusal"].as_str() {
            self.refused.get_or_insert_default().push_str(said);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            // The token usage may follow in a later event.
            self.ended = true;
            match reason {
                "length" => self.cut = true,
                "content_filter" => self.refused = self.refused.take().or(Some(String::new())),
                _ => {}
            }
        }
        text(&choice["delta"]["content"])
    }

    fn gemini(&mut self, it: &Value) -> Option<String> {
        self.model = text(&it["modelVersion"]).or(self.model.take());
        let usage = &it["usageMetadata"];
        self.tokens_in = usage["promptTokenCount"].as_u64().or(self.tokens_in);
        let written = ["candidatesTokenCount", "thoughtsTokenCount"];
        let written = written.iter().filter_map(|name| usage[*name].as_u64());
        self.tokens_out = written.reduce(|sum, n| sum + n).or(self.tokens_out);
        if let Some(reason) = it["promptFeedback"]["blockReason"].as_str() {
            self.ended = true;
            self.refused = Some(format!("the prompt was blocked: {reason}"));
        }
        let candidate = &it["candidates"][0];
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.ended = true;
            match reason {
                "STOP" | "FINISH_REASON_UNSPECIFIED" => {}
                "MAX_TOKENS" => self.cut = true,
                reason => self.refused = Some(format!("the answer was blocked: {reason}")),
            }
        }
        // Reasoning parts are not part of the answer.
        let parts = candidate["content"]["parts"].as_array()?.iter();
        let said = parts.filter(|part| part["thought"] != true);
        Some(said.filter_map(|part| part["text"].as_str()).collect())
    }
}

/// The text of all messages in a completed response.
fn whole(output: &Value) -> String {
    let items = output.as_array().into_iter().flatten();
    let messages = items.filter(|item| item["type"] == "message");
    let parts = messages.filter_map(|item| item["content"].as_array()).flatten();
    let said = parts.filter(|part| part["type"] == "output_text");
    said.filter_map(|part| part["text"].as_str()).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(Into::into)
}

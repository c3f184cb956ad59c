//! Parses the output of each model CLI line by line: streamed text, final answer, errors, model
//! name, token counts and cost. The main type is [`CliOutput`].
use super::cli_spec::CliOutputFormat;
use crate::debate::{Envelope, to_millionths};
use serde_json::Value;

/// The output of a CLI as parsed so far.
#[derive(Debug, Default)]
pub(super) struct CliOutput {
    /// Text of the answer.
    pub text: String,
    /// Error message reported by the CLI.
    pub error: Option<String>,
    /// HTTP status of the model's API, if the CLI reports it.
    pub status: Option<u64>,
    /// Delay before the CLI's own retry, in milliseconds.
    pub retry_ms: Option<u64>,
    /// The model refused to answer.
    pub refused: bool,
    /// Version, model, tokens and cost as reported by the CLI.
    pub envelope: Envelope,
    /// The CLI has printed its final event.
    pub completed: bool,
}

impl CliOutput {
    /// Parses one line and returns the text it adds, if any.
    pub(super) fn parse_line(&mut self, format: CliOutputFormat, line: &str) -> Option<String> {
        if format == CliOutputFormat::Text {
            let line = format!("{line}\n");
            self.text.push_str(&line);
            self.completed = true;
            return Some(line);
        }
        // Warnings and banners between the JSON lines are skipped.
        let json: Value = serde_json::from_str(line.trim()).ok()?;
        match format {
            CliOutputFormat::Claude => self.parse_claude(&json),
            CliOutputFormat::Codex => self.parse_codex(&json),
            CliOutputFormat::Gemini => self.parse_gemini(&json),
            CliOutputFormat::Opencode => self.parse_opencode(&json),
            CliOutputFormat::Copilot => self.parse_copilot(&json),
            CliOutputFormat::Text => None,
        }
    }

    fn parse_claude(&mut self, json: &Value) -> Option<String> {
        match json["type"].as_str()? {
            "system" if json["subtype"] == "init" => {
                self.envelope.version = string_value(&json["claude_code_version"]);
                self.envelope.model_reported = string_value(&json["model"]);
                None
            }
            "system" if json["subtype"] == "api_retry" => {
                self.retry_ms = json["retry_delay_ms"].as_f64().and_then(truncate_to_u64);
                self.status = json["error_status"].as_u64();
                None
            }
            "stream_event" => {
                let event = &json["event"];
                if event["delta"]["stop_reason"] == "refusal" {
                    self.refused = true;
                }
                string_value(&event["delta"]["text"])
            }
            "result" => {
                self.completed = true;
                // The subtype is ignored, because it is `success` for some errors.
                let result_text = string_value(&json["result"]).unwrap_or_default();
                if json["is_error"] == true || json.get("result").is_none() {
                    let errors = json["errors"].as_array().into_iter().flatten();
                    let errors: Vec<String> = errors.filter_map(string_value).collect();
                    let subtype = string_value(&json["subtype"]).unwrap_or_default();
                    let message =
                        if result_text.is_empty() { errors.join("; ") } else { result_text };
                    self.error = Some(if message.is_empty() { subtype } else { message });
                    self.status = json["api_error_status"].as_u64().or(self.status);
                } else {
                    self.text = result_text;
                }
                self.refused |= json["stop_reason"] == "refusal";
                let usage = &json["usage"];
                let input_token_fields =
                    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
                self.envelope.tokens_in =
                    sum_u64(input_token_fields.iter().map(|name| &usage[*name]));
                self.envelope.tokens_out = usage["output_tokens"].as_u64();
                self.envelope.cost = json["total_cost_usd"].as_f64().and_then(to_millionths);
                if let Some(models) = json["modelUsage"].as_object() {
                    let main_model =
                        models.iter().max_by_key(|(_, used)| used["outputTokens"].as_u64());
                    self.envelope.model_reported = main_model
                        .map(|(name, _)| name.clone())
                        .or(self.envelope.model_reported.take());
                }
                None
            }
            _ => None,
        }
    }

    fn parse_codex(&mut self, json: &Value) -> Option<String> {
        match json["type"].as_str()? {
            // Error items are ignored, because they can be warnings; `turn.failed` is an error.
            "item.completed" if json["item"]["type"] == "agent_message" => {
                self.text = string_value(&json["item"]["text"])?;
                Some(self.text.clone())
            }
            "turn.completed" => {
                self.completed = true;
                let usage = &json["usage"];
                self.envelope.tokens_in = usage["input_tokens"].as_u64();
                self.envelope.tokens_out = usage["output_tokens"].as_u64();
                None
            }
            "turn.failed" => {
                self.completed = true;
                self.error = string_value(&json["error"]["message"]);
                None
            }
            "error" => {
                self.error = self.error.take().or_else(|| string_value(&json["message"]));
                None
            }
            _ => None,
        }
    }

    fn parse_gemini(&mut self, json: &Value) -> Option<String> {
        match json["type"].as_str()? {
            "init" => {
                self.envelope.model_reported =
                    string_value(&json["model"]).filter(|model| model != "auto");
                None
            }
            "message" if json["role"] == "assistant" => {
                let delta = string_value(&json["content"])?;
                self.text.push_str(&delta);
                Some(delta)
            }
            // Text before a tool call is not part of the answer.
            "tool_use" => {
                self.text.clear();
                None
            }
            "error" if json["severity"] != "warning" => {
                self.error = string_value(&json["message"]);
                None
            }
            "result" => {
                self.completed = true;
                if json["status"] != "success" {
                    let message = string_value(&json["error"]["message"]).or(self.error.take());
                    self.error = message.or_else(|| string_value(&json["status"]));
                }
                let stats = &json["stats"];
                self.envelope.tokens_in = stats["input_tokens"].as_u64();
                self.envelope.tokens_out = stats["output_tokens"].as_u64();
                let models = stats["models"].as_object();
                let main_model = models.and_then(|models| {
                    models.iter().max_by_key(|(_, used)| used["output_tokens"].as_u64())
                });
                self.envelope.model_reported = main_model
                    .map(|(name, _)| name.clone())
                    .or(self.envelope.model_reported.take());
                None
            }
            _ => None,
        }
    }

    fn parse_opencode(&mut self, json: &Value) -> Option<String> {
        match json["type"].as_str()? {
            "step_start" => {
                self.text.clear();
                None
            }
            "text" => {
                let delta = string_value(&json["part"]["text"])?;
                self.text.push_str(&delta);
                Some(delta)
            }
            "step_finish" => {
                self.completed = true;
                let (part, envelope) = (&json["part"], &mut self.envelope);
                let add = |sum: Option<u64>, json: &Value| {
                    json.as_u64().map(|n| sum.unwrap_or(0) + n).or(sum)
                };
                envelope.tokens_in = add(envelope.tokens_in, &part["tokens"]["input"]);
                envelope.tokens_out = add(envelope.tokens_out, &part["tokens"]["output"]);
                // A cost of 0 means that the price is unknown.
                let cost = part["cost"].as_f64().filter(|cost| *cost > 0.0).and_then(to_millionths);
                envelope.cost =
                    cost.map(|cost| envelope.cost.unwrap_or(0) + cost).or(envelope.cost);
                None
            }
            "error" => {
                let error = &json["error"];
                let message = string_value(&error["data"]["message"])
                    .or_else(|| string_value(&error["name"]));
                self.error = message;
                self.status = error["data"]["statusCode"].as_u64();
                None
            }
            _ => None,
        }
    }

    fn parse_copilot(&mut self, json: &Value) -> Option<String> {
        let data = &json["data"];
        match json["type"].as_str()? {
            "assistant.message_delta" => string_value(&data["deltaContent"]),
            "assistant.message" => {
                self.envelope.model_reported = string_value(&data["model"]);
                if let Some(content) =
                    string_value(&data["content"]).filter(|content| !content.is_empty())
                {
                    self.text = content;
                }
                None
            }
            "session.error" => {
                self.error = string_value(&data["message"]);
                self.status = data["statusCode"].as_u64();
                None
            }
            "result" => {
                self.completed = true;
                None
            }
            _ => None,
        }
    }
}

fn string_value(value: &Value) -> Option<String> {
    value.as_str().map(Into::into)
}

/// Numbers of milliseconds from here on are invalid (31 years).
const MAX_MILLIS: f64 = 1e12;

/// Truncates a number of milliseconds; none if it is negative or not below [`MAX_MILLIS`].
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub(super) fn truncate_to_u64(number: f64) -> Option<u64> {
    (0.0..MAX_MILLIS).contains(&number).then_some(number as u64)
}

fn sum_u64<'a>(values: impl Iterator<Item = &'a Value>) -> Option<u64> {
    values.filter_map(Value::as_u64).reduce(|sum, n| sum + n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_milliseconds_from_1e12_on_is_invalid() {
        assert_eq!(truncate_to_u64(MAX_MILLIS - 1.0), Some(999_999_999_999));
        assert_eq!(truncate_to_u64(MAX_MILLIS), None);
    }
}

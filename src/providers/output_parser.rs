//! Parses the output of each model CLI line by line: streamed text, final answer, errors, model
//! name, token counts and cost. The main type is [`CliOutput`].
use super::cli_spec::CliOutputFormat;
use crate::debate::{Envelope, to_millionths};
use serde_json::Value;

/// The output of a CLI as parsed so far.
#[derive(Debug, Default)]
pub struct CliOutput {
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
    pub fn parse_line(&mut self, reads: CliOutputFormat, line: &str) -> Option<String> {
        if reads == CliOutputFormat::Text {
            let line = format!("{line}\n");
            self.text.push_str(&line);
            self.completed = true;
            return Some(line);
        }
        // Warnings and banners between the JSON lines are skipped.
        let it: Value = serde_json::from_str(line.trim()).ok()?;
        match reads {
            CliOutputFormat::Claude => self.parse_claude(&it),
            CliOutputFormat::Codex => self.parse_codex(&it),
            CliOutputFormat::Gemini => self.parse_gemini(&it),
            CliOutputFormat::Opencode => self.parse_opencode(&it),
            CliOutputFormat::Copilot => self.parse_copilot(&it),
            CliOutputFormat::Text => None,
        }
    }

    fn parse_claude(&mut self, it: &Value) -> Option<String> {
        match it["type"].as_str()? {
            "system" if it["subtype"] == "init" => {
                self.envelope.version = string_value(&it["claude_code_version"]);
                self.envelope.model_reported = string_value(&it["model"]);
                None
            }
            "system" if it["subtype"] == "api_retry" => {
                self.retry_ms = it["retry_delay_ms"].as_f64().and_then(truncate_to_u64);
                self.status = it["error_status"].as_u64();
                None
            }
            "stream_event" => {
                let event = &it["event"];
                if event["delta"]["stop_reason"] == "refusal" {
                    self.refused = true;
                }
                string_value(&event["delta"]["text"])
            }
            "result" => {
                self.completed = true;
                // The subtype is ignored, because it is `success` for some errors.
                let said = string_value(&it["result"]).unwrap_or_default();
                if it["is_error"] == true || it.get("result").is_none() {
                    let errors = it["errors"].as_array().into_iter().flatten();
                    let errors: Vec<String> = errors.filter_map(string_value).collect();
                    let subtype = string_value(&it["subtype"]).unwrap_or_default();
                    let why = if said.is_empty() { errors.join("; ") } else { said };
                    self.error = Some(if why.is_empty() { subtype } else { why });
                    self.status = it["api_error_status"].as_u64().or(self.status);
                } else {
                    self.text = said;
                }
                self.refused |= it["stop_reason"] == "refusal";
                let usage = &it["usage"];
                let read =
                    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
                self.envelope.tokens_in = sum_u64(read.iter().map(|name| &usage[*name]));
                self.envelope.tokens_out = usage["output_tokens"].as_u64();
                self.envelope.cost = it["total_cost_usd"].as_f64().and_then(to_millionths);
                if let Some(models) = it["modelUsage"].as_object() {
                    let most = models.iter().max_by_key(|(_, used)| used["outputTokens"].as_u64());
                    self.envelope.model_reported =
                        most.map(|(name, _)| name.clone()).or(self.envelope.model_reported.take());
                }
                None
            }
            _ => None,
        }
    }

    fn parse_codex(&mut self, it: &Value) -> Option<String> {
        match it["type"].as_str()? {
            // Error items are ignored, because they can be warnings; `turn.failed` is an error.
            "item.completed" if it["item"]["type"] == "agent_message" => {
                self.text = string_value(&it["item"]["text"])?;
                Some(self.text.clone())
            }
            "turn.completed" => {
                self.completed = true;
                let usage = &it["usage"];
                self.envelope.tokens_in = usage["input_tokens"].as_u64();
                self.envelope.tokens_out = usage["output_tokens"].as_u64();
                None
            }
            "turn.failed" => {
                self.completed = true;
                self.error = string_value(&it["error"]["message"]);
                None
            }
            "error" => {
                self.error = self.error.take().or_else(|| string_value(&it["message"]));
                None
            }
            _ => None,
        }
    }

    fn parse_gemini(&mut self, it: &Value) -> Option<String> {
        match it["type"].as_str()? {
            "init" => {
                self.envelope.model_reported =
                    string_value(&it["model"]).filter(|model| model != "auto");
                None
            }
            "message" if it["role"] == "assistant" => {
                let words = string_value(&it["content"])?;
                self.text.push_str(&words);
                Some(words)
            }
            // Text before a tool call is not part of the answer.
            "tool_use" => {
                self.text.clear();
                None
            }
            "error" if it["severity"] != "warning" => {
                self.error = string_value(&it["message"]);
                None
            }
            "result" => {
                self.completed = true;
                if it["status"] != "success" {
                    let said = string_value(&it["error"]["message"]).or(self.error.take());
                    self.error = said.or_else(|| string_value(&it["status"]));
                }
                let stats = &it["stats"];
                self.envelope.tokens_in = stats["input_tokens"].as_u64();
                self.envelope.tokens_out = stats["output_tokens"].as_u64();
                let models = stats["models"].as_object();
                let most = models.and_then(|models| {
                    models.iter().max_by_key(|(_, used)| used["output_tokens"].as_u64())
                });
                self.envelope.model_reported =
                    most.map(|(name, _)| name.clone()).or(self.envelope.model_reported.take());
                None
            }
            _ => None,
        }
    }

    fn parse_opencode(&mut self, it: &Value) -> Option<String> {
        match it["type"].as_str()? {
            "step_start" => {
                self.text.clear();
                None
            }
            "text" => {
                let words = string_value(&it["part"]["text"])?;
                self.text.push_str(&words);
                Some(words)
            }
            "step_finish" => {
                self.completed = true;
                let (part, own) = (&it["part"], &mut self.envelope);
                let more = |sum: Option<u64>, it: &Value| {
                    it.as_u64().map(|n| sum.unwrap_or(0) + n).or(sum)
                };
                own.tokens_in = more(own.tokens_in, &part["tokens"]["input"]);
                own.tokens_out = more(own.tokens_out, &part["tokens"]["output"]);
                // A cost of 0 means that the price is unknown.
                let cost = part["cost"].as_f64().filter(|cost| *cost > 0.0).and_then(to_millionths);
                own.cost = cost.map(|cost| own.cost.unwrap_or(0) + cost).or(own.cost);
                None
            }
            "error" => {
                let error = &it["error"];
                let said = string_value(&error["data"]["message"])
                    .or_else(|| string_value(&error["name"]));
                self.error = said;
                self.status = error["data"]["statusCode"].as_u64();
                None
            }
            _ => None,
        }
    }

    fn parse_copilot(&mut self, it: &Value) -> Option<String> {
        let data = &it["data"];
        match it["type"].as_str()? {
            "assistant.message_delta" => string_value(&data["deltaContent"]),
            "assistant.message" => {
                self.envelope.model_reported = string_value(&data["model"]);
                if let Some(words) =
                    string_value(&data["content"]).filter(|words| !words.is_empty())
                {
                    self.text = words;
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

/// Truncates a number of milliseconds; none if it is negative or above 1e12.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub(super) fn truncate_to_u64(number: f64) -> Option<u64> {
    (0.0..1e12).contains(&number).then_some(number as u64)
}

fn sum_u64<'a>(values: impl Iterator<Item = &'a Value>) -> Option<u64> {
    values.filter_map(Value::as_u64).reduce(|sum, n| sum + n)
}

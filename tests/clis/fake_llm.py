#!/usr/bin/env python3
"""fake_llm.py - loopback fake LLM (stdlib only). Speaks, streaming and not:
  Anthropic  POST .../v1/messages, .../v1/messages/count_tokens
  OpenAI     POST .../chat/completions, .../responses ; GET .../models
  Gemini     POST .../models/<m>:generateContent | :streamGenerateContent | :countTokens

Usage: fake_llm.py [--port 8787] [--log requests.jsonl] [--text "fixed answer"]

A SCENARIO may be put as a path prefix of the base URL, so that one server serves every test:
  http://127.0.0.1:8787/x/text                 fixed text (same as no prefix)
  http://127.0.0.1:8787/x/say:<urlencoded>     that text
  http://127.0.0.1:8787/x/table:<urlencoded path>   a file of [[words...], text]: the first row all of whose words stand in
        what the user said last; "OK" if none does
  http://127.0.0.1:8787/x/tool:<substr>:<urlencoded json args>
        if the request offers a tool whose name contains <substr> and no tool result has come back yet,
        answer with a call of that tool; otherwise answer "TOOL-RESULT-SEEN: <text of last tool result>".
  http://127.0.0.1:8787/x/seq:<urlencoded json list>   multi-step: step i (i = number of tool results in the conversation, clamped)
        is {"tool": substr, "args": {...}, "force": exact name even if not offered} or {"text": "..."} ("$R" = last tool result)
  http://127.0.0.1:8787/x/err:<status>         provider-shaped error with that HTTP status
  http://127.0.0.1:8787/x/hang:<seconds>       sleep, then text
  http://127.0.0.1:8787/x/cut                  start a stream, then drop the connection
  http://127.0.0.1:8787/x/empty                empty assistant message
  http://127.0.0.1:8787/x/garbage              a success whose body is not JSON
  http://127.0.0.1:8787/x/echo                 answers with the last user message text
In the arguments of a tool, $CWD stands for the folder of the seat that is asking, as far as its request tells.
Every request is appended to --log as one JSON line {t, method, path, scenario, headers, body}.
"""
import argparse, json, re, sys, threading, time, urllib.parse, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARGS = None
LOCK = threading.Lock()

def text_of(content):
    if content is None: return ''
    if isinstance(content, str): return content
    if isinstance(content, dict):
        for k in ('text', 'content', 'output'):
            if k in content: return text_of(content[k])
        return json.dumps(content)
    return '\n'.join(text_of(c) for c in content)

class H(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *a): pass

    # ---- plumbing
    def _json(self, obj, status=200, extra=None):
        b = json.dumps(obj).encode()
        self.send_response(status); self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(b)))
        self.send_header('request-id', 'req_fake'); self.send_header('x-request-id', 'req_fake')
        for k, v in (extra or {}).items(): self.send_header(k, v)
        self.end_headers(); self.wfile.write(b)

    def _sse_begin(self):
        self.send_response(200); self.send_header('content-type', 'text/event-stream')
        self.send_header('cache-control', 'no-cache'); self.send_header('transfer-encoding', 'chunked')
        self.send_header('request-id', 'req_fake'); self.end_headers()

    def _chunk(self, s):
        b = s.encode(); self.wfile.write(b'%x\r\n' % len(b) + b + b'\r\n'); self.wfile.flush()

    def _sse(self, obj, event=None):
        self._chunk((f'event: {event}\n' if event else '') + 'data: ' + (obj if isinstance(obj, str) else json.dumps(obj)) + '\n\n')

    def _sse_end(self): self.wfile.write(b'0\r\n\r\n'); self.wfile.flush()

    def _read(self):
        n = self.headers.get('content-length')
        if n is not None: raw = self.rfile.read(int(n))
        elif 'chunked' in (self.headers.get('transfer-encoding') or ''):
            raw = b''
            while True:
                ln = int(self.rfile.readline().split(b';')[0], 16)
                d = self.rfile.read(ln); self.rfile.readline()
                if not ln: break
                raw += d
        else: raw = b''
        enc = self.headers.get('content-encoding')
        if enc == 'gzip':
            import gzip; raw = gzip.decompress(raw)
        elif enc == 'zstd':
            try:
                import zstandard; raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
            except Exception as e: return {'_undecoded': f'zstd {e}'}
        try: return json.loads(raw) if raw else None
        except Exception: return {'_raw': raw[:2000].decode('utf8', 'replace')}

    def _route(self, method):
        body = self._read() if method != 'GET' else None
        path, _, qs = self.path.partition('?')
        m = re.match(r'^/x/([^/]+)(/.*)?$', path)
        self.sc, p = (m.group(1), m.group(2) or '/') if m else ('text', path)
        kind, _, rest = self.sc.partition(':')
        with LOCK, open(ARGS.log, 'a') as f:
            f.write(json.dumps({'t': time.time(), 'method': method, 'path': self.path, 'scenario': self.sc,
                                'headers': dict(self.headers), 'body': body}) + '\n')
        if self.headers.get('upgrade'):  # e.g. Responses over WebSocket: refuse, the client must fall back
            return self._json({'error': {'message': 'no websocket here'}}, 426)
        api = ('anthropic' if '/messages' in p else 'chat' if p.endswith('/chat/completions') else
               'responses' if p.endswith('/responses') else 'gemini' if re.search(r':\w+$', p) else 'other')
        gen = api in ('anthropic', 'chat', 'responses', 'gemini') and 'count' not in p
        if gen and kind == 'err': return self._error(api, int(rest or 500))
        if gen and kind == 'hang': time.sleep(float(urllib.parse.unquote(rest) or 60))
        if gen and kind == 'cut':
            self._sse_begin(); self._chunk('event: ping\ndata: {"type":"ping"}\n\n'); self.close_connection = True
            self.connection.shutdown(2); return
        if gen and kind == 'garbage':
            raw = b'\x00\xff<html>this is no model</html>'
            self.send_response(200); self.send_header('content-type', 'application/json')
            self.send_header('content-length', str(len(raw))); self.end_headers(); self.wfile.write(raw); return
        b = body or {}
        cwd = re.search(r'[^"\\\s:<>()`\']*/debate-seat-\w+', json.dumps(b)); self.cwd = cwd.group(0) if cwd else '.'
        if p.endswith('/count_tokens'): return self._json({'input_tokens': 42})
        if p.endswith(':countTokens'): return self._json({'totalTokens': 42})
        if api == 'anthropic': return self.anthropic(b)
        if api == 'chat': return self.chat(b)
        if api == 'responses': return self.oai_responses(b)
        if api == 'gemini': return self.gemini(b, p, 'alt=sse' in qs)
        if p.endswith('/models'):
            return self._json({'object': 'list', 'data': [{'id': 'fake-model', 'object': 'model', 'type': 'model', 'created': 1, 'owned_by': 'fake', 'display_name': 'Fake'}],
                               'models': [], 'has_more': False, 'first_id': 'fake-model', 'last_id': 'fake-model'})
        return self._json({'error': {'type': 'not_found_error', 'message': 'no route ' + p}}, 404)

    def do_POST(self):
        try: self._route('POST')
        except (BrokenPipeError, ConnectionResetError): pass
    def do_GET(self): self._route('GET')
    def do_HEAD(self): self.send_response(200); self.send_header('content-length', '0'); self.end_headers()

    def _error(self, api, st):
        if api == 'anthropic':
            t = {401: 'authentication_error', 429: 'rate_limit_error', 529: 'overloaded_error', 400: 'invalid_request_error', 404: 'not_found_error'}.get(st, 'api_error')
            return self._json({'type': 'error', 'error': {'type': t, 'message': f'fake {st}'}}, st, {'retry-after': '1'} if st == 429 else None)
        if api == 'gemini':
            s = {401: 'UNAUTHENTICATED', 429: 'RESOURCE_EXHAUSTED', 400: 'INVALID_ARGUMENT', 404: 'NOT_FOUND', 503: 'UNAVAILABLE'}.get(st, 'INTERNAL')
            return self._json({'error': {'code': st, 'message': f'fake {st}', 'status': s}}, st)
        return self._json({'error': {'message': f'fake {st}', 'type': 'fake_error', 'code': 'fake'}}, st, {'retry-after': '1'} if st == 429 else None)

    # ---- scenario -> ('text', s) or ('tool', tool, args)
    def decide(self, tools, result, last_user, nres=0):
        d = self.choose(tools, result, last_user, nres)
        if d[0] == 'tool': d = ('tool', d[1], json.loads(json.dumps(d[2]).replace('$CWD', self.cwd)))
        return d

    def choose(self, tools, result, last_user, nres=0):
        kind, _, rest = self.sc.partition(':')
        if kind == 'say': return ('text', urllib.parse.unquote(rest))
        if kind == 'table':
            with open(urllib.parse.unquote(rest)) as f: rows = json.load(f)
            return ('text', next((text for words, text in rows if all(w in last_user for w in words)), 'OK'))
        if kind == 'empty': return ('text', '')
        if kind == 'echo': return ('text', last_user)
        if kind == 'seq':
            steps = json.loads(urllib.parse.unquote(rest)); st = steps[min(nres, len(steps) - 1)]
            if 'text' in st: return ('text', st['text'].replace('$R', result or ''))
            hit = [t for t in tools if st.get('tool', '\0') in t[0]]
            if hit: return ('tool', hit[0], st.get('args', {}))
            if st.get('force'): return ('tool', (st['force'], None), st.get('args', {}))
            return ('text', 'TOOL-NOT-OFFERED ' + str(st.get('tool')) + ' among ' + ','.join(t[0] for t in tools))
        if kind == 'tool':
            sub, _, a = rest.partition(':'); sub = urllib.parse.unquote(sub)
            if result is not None: return ('text', 'TOOL-RESULT-SEEN: ' + result)
            hit = [t for t in tools if sub in t[0]]
            if hit: return ('tool', hit[0], json.loads(urllib.parse.unquote(a) or '{}'))
            return ('text', 'TOOL-NOT-OFFERED ' + sub + ' among ' + ','.join(t[0] for t in tools))
        return ('text', ARGS.text)

    # ---- Anthropic Messages
    def anthropic(self, b):
        tools = [(t.get('name', ''), None) for t in b.get('tools') or []]
        msgs = b.get('messages') or []; result = None; last = ''; nres = 0
        for m in msgs:
            for c in (m['content'] if isinstance(m['content'], list) else [{'type': 'text', 'text': m['content']}]):
                if c.get('type') == 'tool_result': result = text_of(c.get('content')); nres += 1
                if m['role'] == 'user' and c.get('type') == 'text': last = c['text']
        d = self.decide(tools, result, last, nres)
        mid = 'msg_' + uuid.uuid4().hex[:20]
        usage = {'input_tokens': 11, 'output_tokens': 7, 'cache_creation_input_tokens': 0, 'cache_read_input_tokens': 0}
        block = {'type': 'text', 'text': d[1]} if d[0] == 'text' else {'type': 'tool_use', 'id': 'toolu_' + uuid.uuid4().hex[:20], 'name': d[1][0], 'input': d[2]}
        stop = 'end_turn' if d[0] == 'text' else 'tool_use'
        model = b.get('model', 'fake')
        if not b.get('stream'):
            return self._json({'id': mid, 'type': 'message', 'role': 'assistant', 'model': model, 'content': [block], 'stop_reason': stop, 'stop_sequence': None, 'usage': usage})
        self._sse_begin()
        e = lambda o: self._sse(o, o['type'])
        e({'type': 'message_start', 'message': {'id': mid, 'type': 'message', 'role': 'assistant', 'model': model, 'content': [], 'stop_reason': None, 'stop_sequence': None, 'usage': dict(usage, output_tokens=1)}})
        if d[0] == 'text':
            e({'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}})
            for i in range(0, len(d[1]), 12): e({'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': d[1][i:i+12]}})
        else:
            e({'type': 'content_block_start', 'index': 0, 'content_block': dict(block, input={})})
            e({'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'input_json_delta', 'partial_json': json.dumps(d[2])}})
        e({'type': 'content_block_stop', 'index': 0})
        e({'type': 'message_delta', 'delta': {'stop_reason': stop, 'stop_sequence': None}, 'usage': {'output_tokens': 7}})
        e({'type': 'message_stop'})
        self._sse_end()

    # ---- OpenAI Chat Completions
    def chat(self, b):
        tools = [(t.get('function', {}).get('name', ''), None) for t in b.get('tools') or []]
        result = None; last = ''; nres = 0
        for m in b.get('messages') or []:
            if m['role'] == 'tool': result = text_of(m.get('content')); nres += 1
            if m['role'] == 'user': last = text_of(m.get('content'))
        d = self.decide(tools, result, last, nres)
        cid = 'chatcmpl-' + uuid.uuid4().hex[:16]; base = {'id': cid, 'created': int(time.time()), 'model': b.get('model', 'fake')}
        usage = {'prompt_tokens': 11, 'completion_tokens': 7, 'total_tokens': 18}
        fin = 'stop' if d[0] == 'text' else 'tool_calls'
        msg = {'role': 'assistant', 'content': d[1]} if d[0] == 'text' else {'role': 'assistant', 'content': None, 'tool_calls': [{'id': 'call_' + uuid.uuid4().hex[:12], 'type': 'function', 'function': {'name': d[1][0], 'arguments': json.dumps(d[2])}}]}
        if not b.get('stream'):
            return self._json(dict(base, object='chat.completion', choices=[{'index': 0, 'message': msg, 'finish_reason': fin}], usage=usage))
        self._sse_begin()
        c = lambda delta, f=None: self._sse(dict(base, object='chat.completion.chunk', choices=[{'index': 0, 'delta': delta, 'finish_reason': f}]))
        c({'role': 'assistant', 'content': ''})
        if d[0] == 'text':
            for i in range(0, len(d[1]), 12): c({'content': d[1][i:i+12]})
        else: c({'tool_calls': [dict(msg['tool_calls'][0], index=0)]})
        c({}, fin)
        self._sse(dict(base, object='chat.completion.chunk', choices=[], usage=usage))
        self._sse('[DONE]'); self._sse_end()

    # ---- OpenAI Responses
    def oai_responses(self, b):
        tools = []; inp = b.get('input') or []
        if isinstance(inp, str): inp = [{'role': 'user', 'content': inp}]
        more = [t for it in inp if it.get('type') == 'additional_tools' for t in it.get('tools') or []]
        custom = {t.get('name') for t in (b.get('tools') or []) + [s for t in more for s in t.get('tools') or []] if t.get('type') == 'custom'}
        for t in (b.get('tools') or []) + more:
            if t.get('type') == 'namespace':
                tools += [(t.get('name', '') + s.get('name', ''), (t.get('name'), s.get('name'))) for s in t.get('tools') or []]
            else: tools.append((t.get('name') or t.get('type') or '', None))
        result = None; last = ''; nres = 0
        for it in inp:
            if it.get('type') in ('function_call_output', 'custom_tool_call_output'): result = text_of(it.get('output')); nres += 1
            if it.get('role') == 'user': last = text_of(it.get('content'))
        d = self.decide(tools, result, last, nres)
        rid = 'resp_' + uuid.uuid4().hex[:16]
        usage = {'input_tokens': 11, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 7, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 18}
        if d[0] == 'text':
            item = {'id': 'msg_' + uuid.uuid4().hex[:12], 'type': 'message', 'status': 'completed', 'role': 'assistant', 'content': [{'type': 'output_text', 'text': d[1], 'annotations': []}]}
        else:
            item = {'id': 'fc_' + uuid.uuid4().hex[:12], 'type': 'function_call', 'status': 'completed', 'call_id': 'call_' + uuid.uuid4().hex[:12], 'name': d[1][0], 'arguments': json.dumps(d[2])}
            if d[1][1]: item['namespace'], item['name'] = d[1][1]
            if item['name'] in custom:
                item = dict(item, type='custom_tool_call', input=d[2].get('input', '')); del item['arguments']
        resp = lambda st, out: {'id': rid, 'object': 'response', 'created_at': int(time.time()), 'status': st, 'model': b.get('model', 'fake'), 'output': out, 'usage': usage if st == 'completed' else None, 'error': None, 'incomplete_details': None, 'parallel_tool_calls': False, 'tools': [], 'tool_choice': 'auto', 'metadata': {}}
        if not b.get('stream'): return self._json(resp('completed', [item]))
        self._sse_begin(); seq = [0]
        def e(t, **k): self._sse(dict(k, type=t, sequence_number=seq[0]), t); seq[0] += 1
        e('response.created', response=resp('in_progress', [])); e('response.in_progress', response=resp('in_progress', []))
        if d[0] == 'text':
            e('response.output_item.added', output_index=0, item=dict(item, status='in_progress', content=[]))
            e('response.content_part.added', item_id=item['id'], output_index=0, content_index=0, part={'type': 'output_text', 'text': '', 'annotations': []})
            for i in range(0, len(d[1]), 12): e('response.output_text.delta', item_id=item['id'], output_index=0, content_index=0, delta=d[1][i:i+12])
            e('response.output_text.done', item_id=item['id'], output_index=0, content_index=0, text=d[1])
            e('response.content_part.done', item_id=item['id'], output_index=0, content_index=0, part=item['content'][0])
        elif item['type'] == 'custom_tool_call':
            e('response.output_item.added', output_index=0, item=dict(item, status='in_progress', input=''))
            e('response.custom_tool_call_input.done', item_id=item['id'], output_index=0, input=item['input'])
        else:
            e('response.output_item.added', output_index=0, item=dict(item, status='in_progress', arguments=''))
            e('response.function_call_arguments.delta', item_id=item['id'], output_index=0, delta=item['arguments'])
            e('response.function_call_arguments.done', item_id=item['id'], output_index=0, arguments=item['arguments'])
        e('response.output_item.done', output_index=0, item=item)
        e('response.completed', response=resp('completed', [item]))
        self._sse_end()

    # ---- Gemini
    def gemini(self, b, p, sse):
        tools = [(f.get('name', ''), None) for t in b.get('tools') or [] for f in t.get('functionDeclarations') or []]
        result = None; last = ''; nres = 0
        for c in b.get('contents') or []:
            for part in c.get('parts') or []:
                if 'functionResponse' in part: result = text_of(part['functionResponse'].get('response')); nres += 1
                if c.get('role') == 'user' and 'text' in part: last = part['text']
        cfg = b.get('generationConfig') or {}
        if cfg.get('responseSchema') or cfg.get('responseJsonSchema'):  # internal classifier/router calls want JSON
            d = ('text', json.dumps({'model_choice': 'flash', 'reasoning': 'fake', 'next_speaker': 'user', 'complexity_score': 1, 'complexity_reasoning': 'fake'}))
        else: d = self.decide(tools, result, last, nres)
        part = {'text': d[1]} if d[0] == 'text' else {'functionCall': {'id': 'fc' + uuid.uuid4().hex[:8], 'name': d[1][0], 'args': d[2]}}
        um = {'promptTokenCount': 11, 'candidatesTokenCount': 7, 'totalTokenCount': 18}
        model = re.search(r'models/([^:/]+):', p); model = model.group(1) if model else 'fake'
        mk = lambda parts, fin: {'candidates': [dict({'content': {'role': 'model', 'parts': parts}, 'index': 0}, **({'finishReason': fin} if fin else {}))], 'usageMetadata': um, 'modelVersion': model, 'responseId': 'fake'}
        if 'streamGenerateContent' not in p: return self._json(mk([part], 'STOP'))
        self._sse_begin()
        if d[0] == 'text' and len(d[1]) > 12:
            self._sse(mk([{'text': d[1][:12]}], None)); self._sse(mk([{'text': d[1][12:]}], 'STOP'))
        else: self._sse(mk([part], 'STOP'))
        self._sse_end()

if __name__ == '__main__':
    ap = argparse.ArgumentParser(); ap.add_argument('--port', type=int, default=8787)
    ap.add_argument('--log', default='requests.jsonl'); ap.add_argument('--text', default='FAKE-ANSWER: forty-two.')
    ARGS = ap.parse_args()
    ThreadingHTTPServer.daemon_threads = True
    s = ThreadingHTTPServer(('127.0.0.1', ARGS.port), H)
    print('listening on 127.0.0.1:%d' % s.server_address[1], flush=True)
    s.serve_forever()

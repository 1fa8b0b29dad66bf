-- What Envoy's own options cannot say about headers and reserved paths.
-- Above this text come the settings: PASS_TOKEN, TOKEN_ISSUERS.

-- Addressed to the next hop (RFC 9110, 7.6.1); what `Connection` names is removed by Envoy.
local REQUEST_HOP = { "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer" }
local RESPONSE_HOP = {
  "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
  "proxy-authentication-info", "te", "trailer",
}
-- Envoy's own, of which it cannot be told otherwise.
local ENVOY = { "x-envoy-internal", "x-envoy-external-address", "x-envoy-expected-rq-timeout-ms" }
local ENVOY_RESPONSE = {
  "x-envoy-upstream-service-time", "x-envoy-overloaded", "x-envoy-ratelimited",
  "x-envoy-degraded", "x-envoy-immediate-health-check-fail", "x-envoy-attempt-count",
  "x-envoy-decorator-operation", "x-envoy-upstream-canary",
}
local LONGEST_TOKEN = 16384

local function remove_all(headers, names)
  for _, name in ipairs(names) do
    headers:remove(name)
  end
end

local function unescape(digits)
  return string.char(tonumber(digits, 16))
end

-- Whether a server, having decoded or tidied the target, could take it to lie below `/_`.
local function is_reserved(target)
  local path = string.match(target, "^[^?]*")
  if not string.find(path, "[_%%]") then
    return false
  end
  path = string.gsub(path, "%%(%x%x)", unescape)
  local depth = 0
  for segment in string.gmatch(path, "[^/\\]+") do
    segment = string.match(segment, "^[^;]*")
    if segment == ".." then
      depth = math.max(depth - 1, 0)
    elseif segment ~= "." and segment ~= "" then
      if depth == 0 and segment == "_" then
        return true
      end
      depth = depth + 1
    end
  end
  return false
end

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
local VALUES = {}
for index = 1, #ALPHABET do
  VALUES[string.byte(ALPHABET, index)] = index - 1
end

local function decode_base64url(text)
  local bytes, held, bits = {}, 0, 0
  for index = 1, #text do
    held = held * 64 + (VALUES[string.byte(text, index)] or 0)
    bits = bits + 6
    if bits >= 8 then
      bits = bits - 8
      bytes[#bytes + 1] = string.char(math.floor(held / 2 ^ bits))
      held = held % 2 ^ bits
    end
  end
  return table.concat(bytes)
end

-- The issuer a bearer token names, if it is a JWT. A caller who disguises his own token from
-- this reading only harms himself.
local function issuer_of(authorization)
  if #authorization > LONGEST_TOKEN then
    return nil
  end
  local payload = string.match(authorization, "^%s*[Bb][Ee][Aa][Rr][Ee][Rr]%s+[%w_-]+%.([%w_-]+)%.")
  if not payload then
    return nil
  end
  local issuer = string.match(decode_base64url(payload), '"iss"%s*:%s*"([^"]*)"')
  return issuer and string.gsub(issuer, "\\/", "/")
end

local function drop_platform_token(headers)
  headers:remove("sless-authorization")
  local authorization = next(TOKEN_ISSUERS) and headers:get("authorization")
  if authorization and TOKEN_ISSUERS[issuer_of(authorization) or ""] then
    headers:remove("authorization")
  end
end

-- `1.2.3.4:56` and `[::1]:56` without port and brackets.
local function address_of(peer)
  return (string.gsub(string.gsub(peer, ":%d+$", ""), "[%[%]]", ""))
end

-- What only a trusted proxy may say has been removed from anybody else's request before.
local function set_forwarded(headers, prefix, peer)
  local addresses = headers:get("x-forwarded-for")
  headers:replace("x-forwarded-for", addresses and addresses .. ", " .. peer or peer)
  if not headers:get("x-forwarded-host") then
    headers:add("x-forwarded-host", headers:get(":authority"))
  end
  headers:replace("x-forwarded-prefix", (headers:get("x-forwarded-prefix") or "") .. prefix)
end

local function refuse(handle, status)
  -- The listener's local_reply_config makes the body.
  handle:respond({ [":status"] = status }, "")
end

function envoy_on_request(handle)
  local headers = handle:headers()
  local method = headers:get(":method")
  if method == "TRACE" or method == "CONNECT" then
    return refuse(handle, "405")
  end
  if string.find(headers:get(":authority") or "", ",", 1, true) then
    return refuse(handle, "400") -- two Host lines
  end
  local prefix, target = string.match(headers:get(":path") or "", "^(/fn/[^/?]+/[^/?]+)(.*)$")
  if not prefix then
    return
  end
  if is_reserved(target) then
    return refuse(handle, "404")
  end
  remove_all(headers, REQUEST_HOP)
  remove_all(headers, ENVOY)
  set_forwarded(headers, prefix, address_of(handle:streamInfo():downstreamDirectRemoteAddress()))
  if not PASS_TOKEN then
    drop_platform_token(headers)
  end
end

function envoy_on_response(handle)
  local headers = handle:headers()
  local switching = headers:get(":status") == "101"
  for name in string.gmatch(headers:get("connection") or "", "[^,%s]+") do
    if not (switching and string.lower(name) == "upgrade") and string.sub(name, 1, 1) ~= ":" then
      headers:remove(name)
    end
  end
  remove_all(headers, RESPONSE_HOP)
  remove_all(headers, ENVOY_RESPONSE)
end

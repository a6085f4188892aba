#!/bin/sh
# Sends a message as the service would, with curl and openssl, to try a receiver:
#   WEBHOOK_SECRET=... sh send.sh http://127.0.0.1:8000
set -eu
url=$1
id="evt_$(openssl rand -hex 13)"
time=$(date +%s)
sent_at=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
body="{\"event\":\"app.installed\",\"timestamp\":\"$sent_at\",\"data\":{\"appId\":\"crm\",\"appName\":\"Customers\"}}"

hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary; }
hex() { od -An -v -tx1 | tr -d ' \n'; }

text_key=$(printf %s "$WEBHOOK_SECRET" | hex)
case $WEBHOOK_SECRET in
  whsec_*) key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | hex) ;;
  *) key=$text_key ;;
esac

curl -sS -o /dev/null -w '%{http_code}\n' "$url" \
  -H 'Content-Type: application/json' \
  -H 'X-Webhook-Event: app.installed' \
  -H "X-Webhook-Timestamp: $sent_at" \
  -H "X-Webhook-Signature: sha256=$(printf %s "$body" | hmac "$text_key" | hex)" \
  -H "webhook-id: $id" \
  -H "webhook-timestamp: $time" \
  -H "webhook-signature: v1,$(printf %s "$id.$time.$body" | hmac "$key" | openssl base64 -A)" \
  --data-binary "$body"

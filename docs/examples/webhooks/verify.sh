#!/bin/sh
# Verifies a message that was saved, with openssl: the headers in one file, a line each, the body in another.
#   WEBHOOK_SECRET=... sh verify.sh headers.txt body.json
set -eu
headers=$1 body=$2

header() { sed -n "s/^$1: *//Ip" "$headers" | tr -d '\r'; }
hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary; }
hex() { od -An -v -tx1 | tr -d ' \n'; }

# X-Webhook-Signature: of the body alone, keyed with the secret as it is written.
text_key=$(printf %s "$WEBHOOK_SECRET" | hex)
of_body="sha256=$(hmac "$text_key" < "$body" | hex)"
if [ "$(header x-webhook-signature)" != "$of_body" ] && [ "$(header x-webhook-signature-previous)" != "$of_body" ]; then
  echo 'the signature of the body is wrong' >&2
  exit 1
fi

# Standard Webhooks: of the id and the time too, so that nobody can send an old message again.
case $WEBHOOK_SECRET in
  whsec_*) key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | hex) ;;
  *) key=$text_key ;;
esac
id=$(header webhook-id) time=$(header webhook-timestamp)
of_message="v1,$({ printf %s "$id.$time." && cat "$body"; } | hmac "$key" | openssl base64 -A)"
case " $(header webhook-signature) " in
  *" $of_message "*) ;;
  *)
    echo 'the signature of the message is wrong' >&2
    exit 1
    ;;
esac
age=$(($(date +%s) - time))
if [ "$age" -gt 300 ] || [ "$age" -lt -300 ]; then
  echo "the message is $age seconds old" >&2
  exit 1
fi
echo 'both signatures are right'

#!/bin/sh
# Installs Debian packages, as root. Starts no service, and stops or restarts none that runs (a PostgreSQL, say).
set -e
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod 755 "$policy"
fi

apt-get update || true
apt-get install -y --no-install-recommends "$@"

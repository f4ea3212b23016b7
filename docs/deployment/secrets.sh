#!/bin/sh
# Create the keys and passwords of a new system. Existing ones stay unchanged. Usage: `./secrets.sh [FOLDER]`
set -eu
umask 077
folder="${1:-secrets}"
mkdir -p "$folder"
cd "$folder"

# 32 random bytes in Fernet's encoding.
fresh() {
  head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n'
}

once() {
  if [ ! -s "$1" ]; then
    fresh >"$1.new"
    mv "$1.new" "$1"
    echo "made $1"
  fi
}

for name in pseudonym_key identity_key database_password valkey_password storage_key; do
  once "$name"
done
if [ ! -s secret_key ]; then
  { fresh; fresh; } >secret_key.new
  mv secret_key.new secret_key
  echo "made secret_key"
fi
printf 'postgresql://crowdrag:%s@postgres:5432/crowdrag' "$(cat database_password | sed 's/=/%3D/g')" >database_url
printf 'redis://:%s@valkey:6379/0' "$(cat valkey_password | sed 's/=/%3D/g')" >broker_url
printf 'requirepass %s\n' "$(cat valkey_password)" >valkey_conf
printf 'ROOT_SECRET_ACCESS_KEY=%s\n' "$(cat storage_key)" >storage.env
# Containers read the files as a different account. The folder itself stays closed.
chmod 644 ./*
chmod 700 .

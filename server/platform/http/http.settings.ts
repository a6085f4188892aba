import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { boolean, declareSettings, integer, text, type SettingsOf } from '../config/index.ts';
import { errorMessage } from '../errors/index.ts';

export const httpSettings = declareSettings('HTTP', {
  HOST: text({ default: '127.0.0.1', doc: 'Address to listen on.' }),
  PORT: integer({ default: 8080, min: 0, max: 65_535, doc: 'Port to listen on; 0 takes a free one.' }),
  TLS_CERT_FILE: text({ default: undefined, doc: 'PEM file with the certificate chain. With TLS_KEY_FILE: HTTPS.' }),
  TLS_KEY_FILE: text({ default: undefined, doc: 'PEM file with the private key of the certificate.' }),
  TRUST_PROXY: text({
    default: undefined,
    doc: 'Proxies whose X-Forwarded-* headers count: addresses and CIDRs, comma separated, or 1 for whoever connects. X-Forwarded-Proto must then be https.',
  }),
  ALLOW_INSECURE_HTTP: boolean({ default: false, doc: 'Serve plain HTTP on an address that is not loopback.' }),
});

/** How connections are protected. */
export interface Transport {
  tls: { cert: Buffer; key: Buffer } | undefined;
  trustProxy: boolean | string[];
  /** Refuse requests that a trusted proxy did not receive by HTTPS. */
  requiresHttps: boolean;
}

/** Whether an address can be reached from this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function readPem(name: string, file: string, mistakes: string[]): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    mistakes.push(`${name} cannot be read: ${errorMessage(error)}`);
    return Buffer.alloc(0);
  }
}

function readTls(settings: SettingsOf<typeof httpSettings>, mistakes: string[]): Transport['tls'] {
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = settings;
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    mistakes.push('TLS_CERT_FILE and TLS_KEY_FILE are needed together');
    return undefined;
  }
  return { cert: readPem('TLS_CERT_FILE', cert, mistakes), key: readPem('TLS_KEY_FILE', key, mistakes) };
}

/** Decides the transport from the settings; pushes a mistake when keys would travel in the clear. */
export function transportOf(settings: SettingsOf<typeof httpSettings>, mistakes: string[]): Transport {
  const tls = readTls(settings, mistakes);
  const proxies = settings.TRUST_PROXY?.split(',').map((part) => part.trim());
  const trustProxy = proxies === undefined ? false : proxies.includes('1') || proxies.includes('true') || proxies;
  const isProtected = tls !== undefined || trustProxy !== false || isLoopbackHost(settings.HOST);
  if (!isProtected && !settings.ALLOW_INSECURE_HTTP) {
    mistakes.push(
      `HOST is ${settings.HOST}, where API keys would travel unencrypted: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY behind an HTTPS proxy, or ALLOW_INSECURE_HTTP=1`,
    );
  }
  return { tls, trustProxy, requiresHttps: trustProxy !== false && tls === undefined };
}

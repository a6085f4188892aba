import { isIP } from 'node:net';
import { boolean, declareSettings, integer, text, type SettingsOf } from '../config/index.ts';
import { readTlsFiles, type TlsFiles } from './tls-files.ts';

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
  tls: TlsFiles | undefined;
  trustProxy: boolean | string[];
  /** Refuse requests that a trusted proxy did not receive by HTTPS. */
  requiresHttps: boolean;
}

/** Whether an address can be reached from this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function readTls(settings: SettingsOf<typeof httpSettings>, mistakes: string[]): TlsFiles | undefined {
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = settings;
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    mistakes.push('TLS_CERT_FILE and TLS_KEY_FILE are needed together');
    return undefined;
  }
  return readTlsFiles({ cert, key }, mistakes);
}

/** An address, or a network as address/bits. */
function isNetwork(proxy: string): boolean {
  const [address = '', bits = '0', ...rest] = proxy.split('/');
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= maxBits;
}

function readProxies(setting: string | undefined, mistakes: string[]): boolean | string[] {
  const proxies = setting?.split(',').map((part) => part.trim());
  if (proxies === undefined) return false;
  if (proxies.includes('1') || proxies.includes('true')) return true;
  const odd = proxies.filter((proxy) => !isNetwork(proxy));
  if (odd.length > 0) mistakes.push(`TRUST_PROXY must list addresses and CIDRs, or be 1, but has "${odd.join(', ')}"`);
  return proxies;
}

/** Decides the transport from the settings; pushes a mistake when keys would travel in the clear. */
export function transportOf(settings: SettingsOf<typeof httpSettings>, mistakes: string[]): Transport {
  const tls = readTls(settings, mistakes);
  const trustProxy = readProxies(settings.TRUST_PROXY, mistakes);
  const isProtected = settings.TLS_CERT_FILE !== undefined || trustProxy !== false || isLoopbackHost(settings.HOST);
  if (!isProtected && !settings.ALLOW_INSECURE_HTTP) {
    mistakes.push(
      `HOST is ${settings.HOST}, where API keys would travel unencrypted: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY behind an HTTPS proxy, or ALLOW_INSECURE_HTTP=1`,
    );
  }
  return { tls, trustProxy, requiresHttps: trustProxy !== false && tls === undefined };
}

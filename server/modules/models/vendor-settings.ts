import { oneOf, secret, url, type Secret } from '../../platform/config/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';

export const PROTOCOLS = ['anthropic', 'openai'] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

export const VENDOR_BASE_URLS: Record<ProtocolName, string> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
};

/** A vendor and how to reach it. */
export interface VendorSettings {
  protocol: ProtocolName;
  /** With the version and without a trailing slash. */
  baseUrl: string;
  /** Without a key its models are known, but cannot be called. */
  apiKey: Secret | undefined;
  /** The setting that the key is read from, for the sentence that says it is missing. */
  apiKeySetting: string;
}

const FAMILY = /^AI_(.+)_(?:PROTOCOL|BASE_URL|API_KEY)$/;

const protocolSetting = oneOf(PROTOCOLS, { default: 'openai', doc: '' });
const baseUrlSetting = url(['http', 'https'], { default: undefined, doc: '' });
const apiKeySetting = secret({ doc: '' });

/** Splits `<vendor>:<model>`; undefined for a name without a vendor. */
export function splitModelName(name: string): { vendor: string; model: string } | undefined {
  const colon = name.indexOf(':');
  if (colon <= 0 || colon === name.length - 1) return undefined;
  return { vendor: name.slice(0, colon), model: name.slice(colon + 1) };
}

/** How the vendor of a model name is spelled in the names of settings: `my-vendor` is AI_MY_VENDOR_*. */
export function vendorKey(vendor: string): string {
  return vendor.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

/** Reads the vendors that have settings AI_<VENDOR>_*, by their keys. What is wrong with one is pushed to `mistakes`. */
export function readVendors(env: NodeJS.ProcessEnv, mistakes: string[]): Map<string, VendorSettings> {
  const keys = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    const key = FAMILY.exec(name)?.[1];
    if (key !== undefined && key !== 'DEFAULT' && value?.trim()) keys.add(key);
  }
  const vendors = new Map<string, VendorSettings>();
  for (const key of keys) {
    const vendor = readVendor(key, env, mistakes);
    if (vendor) vendors.set(key, vendor);
  }
  return vendors;
}

function readVendor(key: string, env: NodeJS.ProcessEnv, mistakes: string[]): VendorSettings | undefined {
  const keyName = `AI_${key}_API_KEY`;
  const urlName = `AI_${key}_BASE_URL`;
  try {
    const baseUrl = baseUrlSetting.parse(env[urlName]);
    if (baseUrl === undefined) throw new Error('must be set, because other settings of the vendor are');
    return {
      protocol: readProtocol(key, env, mistakes),
      baseUrl,
      apiKey: apiKeySetting.parse(env[keyName]),
      apiKeySetting: keyName,
    };
  } catch (error) {
    mistakes.push(`${urlName} ${errorMessage(error)}`);
    return undefined;
  }
}

function readProtocol(key: string, env: NodeJS.ProcessEnv, mistakes: string[]): ProtocolName {
  const name = `AI_${key}_PROTOCOL`;
  try {
    return protocolSetting.parse(env[name]);
  } catch (error) {
    mistakes.push(`${name} ${errorMessage(error)}`);
    return protocolSetting.parse(undefined);
  }
}

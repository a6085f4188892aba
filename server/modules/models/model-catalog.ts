import type { Tier } from '../../../contract/shared/tiers.ts';
import { AppError } from '../../platform/errors/index.ts';
import type { ModelSettings } from './models.settings.ts';
import { splitModelName, vendorKey, type VendorSettings } from './vendor-settings.ts';

/** A model that was found, and who serves it. */
export interface CatalogEntry {
  /** The name that callers use. */
  name: string;
  /** The vendor's name of it. */
  upstream: string;
  vendorName: string;
  vendor: VendorSettings;
}

const DEFAULT_VENDOR = 'default';

/** Names that are shown back to callers are cut: they are free to send a novel. */
const SHOWN_LENGTH = 100;

/** The models on offer, listed ones first, and the rules of who may use which. */
export class ModelCatalog {
  readonly #settings: ModelSettings;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
  }

  /** What callers may ask for; models of configured vendors that are not listed are stood for by `<vendor>:<model>`. */
  names(): string[] {
    const vendors = [...this.#settings.vendors.keys()].map((key) => `${key.toLowerCase()}:<model>`);
    return [...this.#settings.models.keys(), ...vendors];
  }

  /**
   * Finds a model by its public name, or the default model. Throws AppError INVALID_REQUEST when there is none of that
   * name, and MODEL_NOT_ALLOWED when the tier does not include it.
   */
  find(name: string | undefined, tier: Tier): CatalogEntry {
    const wanted = name ?? this.#settings.defaultModel;
    const entry = this.#lookUp(wanted);
    if (!entry) {
      const shown = wanted.length > SHOWN_LENGTH ? `${wanted.slice(0, SHOWN_LENGTH)}…` : wanted;
      throw new AppError('INVALID_REQUEST', `There is no model "${shown}". There are: ${this.names().join(', ')}.`);
    }
    if (tier === 'free' && !this.#settings.basicModels.has(wanted)) {
      const basic = [...this.#settings.basicModels].join(', ');
      throw new AppError('MODEL_NOT_ALLOWED', `The tier free does not include the model "${wanted}", only: ${basic}.`);
    }
    return entry;
  }

  #lookUp(name: string): CatalogEntry | undefined {
    const parts = splitModelName(name);
    const listed = this.#settings.models.get(name);
    if (parts) {
      const vendor =
        this.#settings.vendors.get(vendorKey(parts.vendor)) ??
        (listed === undefined ? undefined : unconfigured(parts.vendor));
      return vendor && { name, upstream: listed ?? parts.model, vendorName: parts.vendor.toLowerCase(), vendor };
    }
    return listed === undefined ? undefined : this.#listedPlain(name, listed);
  }

  /** A listed name without prefix: of the default vendor, unless it stands for `<vendor>:<model>` of a configured one. */
  #listedPlain(name: string, upstream: string): CatalogEntry {
    const parts = splitModelName(upstream);
    const vendor = parts && this.#settings.vendors.get(vendorKey(parts.vendor));
    if (vendor) return { name, upstream: parts.model, vendorName: parts.vendor.toLowerCase(), vendor };
    return { name, upstream, vendorName: DEFAULT_VENDOR, vendor: this.#settings.defaultVendor };
  }
}

/** Stands for a vendor whose models are listed, but that nobody has configured: it can only say so. */
function unconfigured(vendor: string): VendorSettings {
  return { protocol: 'openai', baseUrl: '', apiKey: undefined, apiKeySetting: `AI_${vendorKey(vendor)}_API_KEY` };
}

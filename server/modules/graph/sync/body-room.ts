import { AppError } from '../../../platform/errors/index.ts';

const RETRY_SECONDS = 5;

export interface RoomLimits {
  /** Bytes that large bodies may take together. */
  most: number;
  /** Bytes that those of one owner may take. */
  mostOfOwner: number;
  /** Bytes up to which a body does not count. */
  small: number;
}

/** The memory that one body takes, from when it begins to arrive until it is stored. */
export interface BodyPlace {
  /** Takes further bytes. Throws UNAVAILABLE when there is no room for them. */
  reserve: (bytes: number) => void;
  leave: () => void;
}

/** Bounds the memory that large bodies take together. */
export class BodyRoom {
  readonly #limits: RoomLimits;
  readonly #byOwner = new Map<string, number>();
  #taken = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  enter(owner: string): BodyPlace {
    let wanted = 0;
    let counted = 0;
    return {
      reserve: (bytes) => {
        wanted += bytes;
        if (wanted <= this.#limits.small) return;
        this.#take(owner, wanted - counted);
        counted = wanted;
      },
      leave: () => {
        this.#add(owner, -counted);
        counted = 0;
      },
    };
  }

  #take(owner: string, bytes: number): void {
    const ofOwner = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (this.#taken + bytes > this.#limits.most || ofOwner > this.#limits.mostOfOwner) {
      throw new AppError(
        'UNAVAILABLE',
        'Too many large bodies are being received or stored; send it again in a while.',
        {
          retryAfterSeconds: RETRY_SECONDS,
        },
      );
    }
    this.#add(owner, bytes);
  }

  #add(owner: string, bytes: number): void {
    this.#taken += bytes;
    const ofOwner = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (ofOwner === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, ofOwner);
  }
}

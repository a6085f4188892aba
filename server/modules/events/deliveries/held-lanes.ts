import type { Lane } from './lane.ts';

/** Lanes that could send but for a bound: developers take turns, and the lanes of each do. */
export class HeldLanes {
  readonly #lanes = new Map<string, Set<Lane>>();

  add(lane: Lane): void {
    const { developerId } = lane.key;
    const lanes = this.#lanes.get(developerId);
    if (lanes) lanes.add(lane);
    else this.#lanes.set(developerId, new Set([lane]));
  }

  /** The lane whose turn it is, of a developer who has room; it is held no longer. */
  take(hasRoom: (developerId: string) => boolean): Lane | undefined {
    for (const [developerId, lanes] of this.#lanes) {
      const [lane] = lanes;
      if (!lane || !hasRoom(developerId)) continue;
      lanes.delete(lane);
      this.#lanes.delete(developerId);
      if (lanes.size > 0) this.#lanes.set(developerId, lanes);
      return lane;
    }
    return undefined;
  }
}

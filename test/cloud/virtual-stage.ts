import { afterEach, beforeEach, expect } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import type { CloudWorldOptions } from './options.ts';
import type { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** Virtual time, a deployment that a test starts, and its programs, which end with each test of the file. */
export class VirtualStage {
  readonly programs: Program[] = [];
  readonly #seed: number;
  readonly #options: Partial<CloudWorldOptions>;
  #time: VirtualTime | undefined;
  #world: InProcessWorld | undefined;

  /**
   * Call it at the top of the file.
   * @param options of each deployment
   */
  constructor(seed: number, options: Partial<CloudWorldOptions> = {}) {
    this.#seed = seed;
    this.#options = options;
    beforeEach(() => {
      this.#time = new VirtualTime(seed);
    });
    afterEach(() => this.#end());
  }

  get time(): VirtualTime {
    if (this.#time === undefined) throw new Error('no test has begun');
    return this.#time;
  }

  get world(): InProcessWorld {
    if (this.#world === undefined) throw new Error('the test has started no deployment');
    return this.#world;
  }

  async start(options: Partial<CloudWorldOptions> = {}): Promise<void> {
    const started = startCloudInProcess({ seed: this.#seed, ...this.#options, ...options });
    this.#world = await this.time.during(started);
  }

  seconds(count: number): Promise<void> {
    return this.time.advance(count * 1_000);
  }

  async #end(): Promise<void> {
    for (const { mqtt } of this.programs.splice(0)) mqtt.end(true);
    await this.time.advance(1_000);
    this.#world?.stop();
    this.time.restore();
    expect(this.#world?.failures ?? []).toEqual([]);
    this.#world = undefined;
  }
}

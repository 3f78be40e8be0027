import { type RunningDoors, startDoors } from '@apus/cli';
import mqtt from 'mqtt';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { HostEnvironment } from '../../src/engine/host/environment.ts';
import { Host } from '../../src/engine/host/host.ts';
import { newProfile, newSubscription } from '../../src/engine/new-profile.ts';
import { Connections } from '../../src/engine/page/connections.ts';
import type { PageConnection } from '../../src/engine/page/page-connection.ts';
import type {
  ConnectionProfile,
  ConnectionStatus,
  Door,
  LoggedMessage,
  Secrets,
  Subscription,
} from '../../src/engine/types.ts';

const environment: HostEnvironment = {
  mqtt,
  WebSocket: WebSocket as never,
  openSocket: (url, subprotocols) => new WebSocket(url, [...subprotocols]) as never,
  now: () => performance.timeOrigin + performance.now(),
  later: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** A connection of the client, without its worker: commands and reports pass as structured clones all the same. */
export class TestConnection {
  readonly profile: ConnectionProfile;
  readonly connection: PageConnection;
  readonly statuses: ConnectionStatus[] = [];
  readonly messages: LoggedMessage[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(profile: ConnectionProfile) {
    this.profile = profile;
    const host = new Host(environment, (report, moved) =>
      connections.report(structuredClone(report, { transfer: [...moved] as ArrayBuffer[] })),
    );
    const connections = new Connections(
      (command) => host.handle(structuredClone(command)),
      (_id, status) => {
        this.statuses.push(status);
        this.#look();
      },
    );
    this.connection = connections.get(profile.id);
    this.connection.messages.onAppend((messages) => {
      this.messages.push(...messages);
      this.#look();
    });
    onTestFinished(() => this.connection.close());
  }

  get status(): ConnectionStatus | undefined {
    return this.statuses.at(-1);
  }

  get received(): readonly LoggedMessage[] {
    return this.messages.filter(({ direction }) => direction === 'received');
  }

  open(secrets: Secrets = {}, packetBytesMax?: number): this {
    this.connection.open(this.profile, secrets, packetBytesMax);
    return this;
  }

  /** Resolves when the condition holds; it is looked at after every status and every message. */
  until(condition: (test: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition(this)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  granted(id: string): Promise<void> {
    return this.until(({ status }) => status?.subscriptions[id]?.status === 'granted');
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

export async function startBroker(): Promise<RunningDoors> {
  const node = await startDoors({ port: 0, gatewayPort: 0 });
  onTestFinished(() => node.stop());
  return node;
}

export function urlOf(node: RunningDoors, door: Door): string {
  return door === 'node' ? node.url : (node.gateway?.url ?? '');
}

export function profileFor(url: string, changes: Partial<ConnectionProfile> = {}): ConnectionProfile {
  return { ...newProfile(url), ...changes };
}

export function subscriptionFor(filter: string, changes: Partial<Subscription> = {}): Subscription {
  return { ...newSubscription(filter), ...changes };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

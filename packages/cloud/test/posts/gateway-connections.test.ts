import type { LinkStore } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { GatewayConnections } from '../../src/connections/gateway-connections.ts';
import { Postbag } from '../../src/posts/postbag.ts';
import type { Poster } from '../../src/posts/poster.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

describe('a connection that was taken over', () => {
  it('is cut where the store is away: its $disconnect writes the tombstone', async () => {
    const deleted: string[] = [];
    const poster = { delete: async (id: string) => void deleted.push(id) } as unknown as Poster;
    const end = async () => {
      throw new Error('throttled');
    };
    const links = { end } as unknown as LinkStore;
    const postbag = new Postbag(poster, SILENT);
    const connections = new GatewayConnections(postbag, poster, links, { now: () => 0 });
    await expect(connections.close('old', undefined)).rejects.toThrow('throttled');
    expect(deleted).toEqual(['old']);
  });
});

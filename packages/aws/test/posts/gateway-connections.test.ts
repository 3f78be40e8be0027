import type { LinkStore } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { GatewayConnections } from '../../src/connections/gateway-connections.ts';
import { GatheredPosts } from '../../src/posts/gathered-posts.ts';
import type { Poster } from '../../src/posts/poster.ts';

describe('a connection that was taken over', () => {
  it('is cut where the store is away: its $disconnect writes the tombstone', async () => {
    const deleted: string[] = [];
    const poster = { delete: async (id: string) => void deleted.push(id) } as unknown as Poster;
    const end = async () => {
      throw new Error('throttled');
    };
    const links = { end } as unknown as LinkStore;
    const posts = new GatheredPosts({ post: async () => [] });
    const clock = { now: () => 0 };
    const connections = new GatewayConnections({ posts, own: undefined, poster, links, clock });
    await expect(connections.close('old', undefined)).rejects.toThrow('throttled');
    expect(deleted).toEqual(['old']);
  });
});

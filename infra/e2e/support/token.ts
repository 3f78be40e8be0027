import { type MintOptions, mintToken } from '@apus/identity';
import { deployed } from './deployed.ts';

/** A token that may do everything for ten minutes; or less of it. */
export function tokenFor(sub: string, less: Partial<MintOptions> = {}): Promise<string> {
  return mintToken(deployed.secret, {
    sub,
    publish: ['#'],
    subscribe: ['#'],
    expiresInSeconds: 600,
    nowMs: Date.now(),
    ...less,
  });
}

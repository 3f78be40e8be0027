import type { Log, StreamDeclaration } from '@apus/broker';
import type { ClusterContext } from '@apus/node';
import type { Configurations } from './store/index.ts';

interface Configuration {
  /** By name, each in JSON. */
  readonly streams: Readonly<Record<string, string>>;
  readonly hasTenants: boolean;
}

/** Warns if other processes were started with other streams, or if only some have a register of tenants. */
export async function compareConfigurations(
  configurations: Configurations,
  { streams, tenants, log }: Pick<ClusterContext, 'streams' | 'tenants'> & { readonly log: Log },
): Promise<void> {
  const own: Configuration = { streams: textsOf(streams?.all ?? []), hasTenants: tenants !== undefined };
  for (const [process, told] of await configurations.tell(JSON.stringify(own))) {
    const other = JSON.parse(told) as Configuration;
    const names = new Set([...Object.keys(own.streams), ...Object.keys(other.streams)]);
    const different = [...names].filter((name) => own.streams[name] !== other.streams[name]);
    if (different.length > 0)
      log.warn('streams-differ', {
        process,
        streams: different,
        reason:
          'Give all processes of a cluster the same --streams: a process keeps no history of streams that it does not have.',
      });
    if (own.hasTenants !== other.hasTenants)
      log.warn('tenants-differ', { process, reason: 'Give all processes of a cluster --tenants, or none.' });
  }
}

function textsOf(streams: readonly StreamDeclaration[]): Record<string, string> {
  return Object.fromEntries(
    streams.map((stream) => [
      stream.name,
      JSON.stringify(Object.entries(stream).sort(([a], [b]) => (a < b ? -1 : 1))),
    ]),
  );
}

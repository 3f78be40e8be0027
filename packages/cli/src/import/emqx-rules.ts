import type { Note } from './report.ts';

type Fields = Readonly<Record<string, unknown>>;

const SELECT_ALL = /^select\s+\*\s+from\s+("[^"]+"(?:\s*,\s*"[^"]+")*)$/i;
const SQL_LENGTH_MAX = 4_096;
const NAME_LENGTH_MAX = 48;
/** EMQX's placeholders for the message as it came. */
const [TOPIC, PAYLOAD] = ['topic', 'payload'].map((name) => `\${${name}}`) as [string, string];

/** Rules of EMQX that send all messages of some topics on to another topic, as rules of Apus. */
export function emqxRules(entries: readonly Fields[], path: string, notes: Note[]): readonly object[] {
  return entries.flatMap((entry, index) => rulesOf(entry, `${path}: rule ${index + 1}`, notes));
}

function rulesOf(entry: Fields, where: string, notes: Note[]): readonly object[] {
  const leaveOut = (why: string): readonly object[] => {
    notes.push({ where, why: `left out: ${why}` });
    return [];
  };
  if (entry.enable === false) return leaveOut('it is not enabled');
  const [, from = ''] =
    SELECT_ALL.exec(String(entry.sql).slice(0, SQL_LENGTH_MAX).trim().replace(/;$/, '')) ?? [];
  const filters = [...from.matchAll(/"([^"]+)"/g)].map(([, filter = '']) => filter);
  if (filters.length === 0)
    return leaveOut(
      'its SQL selects or computes; a condition (`when`) may say it: docs/bridges.md#conditions',
    );
  if (filters.some((filter) => filter.startsWith('$')))
    return leaveOut('it is about events, or messages of a bridge, that no topic has here');
  const actions = Array.isArray(entry.actions) ? (entry.actions as readonly unknown[]) : [];
  const base = String(entry.id ?? entry.name ?? 'rule')
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, NAME_LENGTH_MAX);
  return actions.flatMap((action, at) => {
    const publish = republished(action);
    if (typeof publish === 'string') return leaveOut(publish);
    return filters.map((filter, index) => ({
      name: `${base}-${at + 1}-${index + 1}`,
      filter,
      to: { publish },
    }));
  });
}

/** The target, or why there is none. */
function republished(action: unknown): object | string {
  const { function: name, args } = (typeof action === 'object' && action !== null ? action : {}) as Fields;
  if (name !== 'republish')
    return `its action ${JSON.stringify(name ?? action)} needs the address and the secret of its target: docs/bridges.md`;
  const { topic, payload, qos, retain } = (args ?? {}) as Fields;
  const target = String(topic).replaceAll(TOPIC, '{topic}');
  if (typeof topic !== 'string' || /\$\{|[{}]/.test(target.replaceAll('{topic}', '')))
    return 'its topic has a placeholder that rules here do not fill in';
  if (payload !== undefined && payload !== '' && payload !== PAYLOAD) return 'it changes the payload';
  return {
    topic: target,
    ...((qos === 0 || qos === 1 || qos === 2) && { qos }),
    ...((retain === true || retain === 'true') && { retain: true }),
  };
}

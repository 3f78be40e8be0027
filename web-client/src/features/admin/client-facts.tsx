import type { ClientDetails } from '@apus/api';
import { type Fact, Facts } from '../../ui/facts.tsx';
import {
  formatBytes,
  formatCount,
  formatDateTime,
  formatRate,
  formatSeconds,
  plural,
} from '../../ui/format.ts';
import { connectionsWords } from '../connections/strings.ts';
import classes from './admin-view.module.css';
import { type ClientLook, perSecond } from './client-look.ts';
import { versionOf } from './mqtt-version.ts';
import { DROP_REASONS } from './observing-api.ts';
import { adminWords } from './strings.ts';

/** A session that never expires. */
const NEVER_SECONDS = 0xffff_ffff;

/** The name of a broker with one process. */
const ALONE = 'apus';

interface ClientFactsProps {
  readonly now: ClientLook;
  readonly before: ClientLook | undefined;
}

/** The facts that the broker knows of a client. */
export function ClientFacts({ now, before }: ClientFactsProps) {
  const { client } = now;
  const parts: readonly (readonly [title: string, facts: readonly Fact[]])[] = [
    ['Connection', connectionFacts(client)],
    ['Session', sessionFacts(client)],
    ['Traffic of this connection', trafficFacts(now, before)],
    ['Dropped messages', dropFacts(client)],
    ['Identity', identityFacts(client)],
    // The broker's own names, as in its flags and files.
    [
      'Quotas',
      Object.entries(client.quotas ?? {}).map(([name, quota]) => [
        name,
        quota === 0 ? 'any number' : formatCount(quota),
      ]),
    ],
  ];
  return parts.map(
    ([title, facts]) =>
      facts.length > 0 && (
        <section key={title}>
          <h3 className={classes.part}>{title}</h3>
          <Facts facts={facts} labelWidth={title === 'Quotas' ? '180px' : '140px'} />
        </section>
      ),
  );
}

function connectionFacts(client: ClientDetails): readonly Fact[] {
  const { node: nodeName = ALONE, connected, door, ip_address, port, connected_seconds, keepalive } = client;
  return [
    ['State', connected ? 'connected' : 'not connected'],
    ['Door', door === null ? undefined : connectionsWords.door[door]],
    ['Process', nodeName === ALONE ? undefined : nodeName],
    ['MQTT', connected ? versionOf(client.proto_ver) : undefined],
    ['Address', ip_address === null ? undefined : `${ip_address}${port === null ? '' : `:${port}`}`],
    ['Connected for', connected_seconds === null ? undefined : formatSeconds(connected_seconds * 1_000)],
    ['Keep alive', keepalive === null ? undefined : formatSeconds(keepalive * 1_000)],
  ];
}

function sessionFacts(client: ClientDetails): readonly Fact[] {
  const { expiry_interval, mqueue_len, inflight_cnt, recv_maximum, will } = client;
  const expiry =
    expiry_interval === null
      ? undefined
      : expiry_interval === NEVER_SECONDS
        ? 'never'
        : expiry_interval === 0
          ? 'with the connection'
          : formatSeconds(expiry_interval * 1_000);
  const inflight = formatCount(inflight_cnt ?? 0);
  const window =
    recv_maximum === null
      ? `${inflight} to be sent again`
      : `${inflight} of ${formatCount(recv_maximum)} in flight`;
  return [
    ['Session expiry', expiry],
    ['Queue', mqueue_len === null ? undefined : `${mqueue_len} waiting`],
    ['Window', inflight_cnt == null ? undefined : window],
    ['Will topic', will ?? undefined],
  ];
}

function trafficFacts(now: ClientLook, before: ClientLook | undefined): readonly Fact[] {
  const { client } = now;
  if (!client.connected || client.recv_msg == null) return [];
  const told = (name: 'recv_msg' | 'send_msg', octets: number | null | undefined): string => {
    const messages = client[name];
    if (messages == null || octets == null) return 'not counted at this door';
    const perSec = perSecond(before, now, name);
    const rate = perSec === undefined ? '' : ` (${formatRate(perSec)}/s)`;
    return `${formatCount(messages)} ${plural(messages, 'message', 'messages')}${rate}, ${formatBytes(octets)}`;
  };
  return [
    ['From the client', told('recv_msg', client.recv_oct)],
    ['To the client', told('send_msg', client.send_oct)],
  ];
}

function dropFacts(client: ClientDetails): readonly Fact[] {
  const all = client['send_msg.dropped'];
  if (all == null) return [];
  return [
    ['In all', all === 0 ? 'none' : formatCount(all)],
    ...DROP_REASONS.map((reason): Fact => {
      const count = client[`send_msg.dropped.${reason}`] ?? 0;
      return [adminWords.client.reasons[reason], count === 0 ? undefined : formatCount(count)];
    }),
  ];
}

function identityFacts({ username, identity }: ClientDetails): readonly Fact[] {
  const time = (at: string | null | undefined): string | undefined =>
    at == null ? undefined : formatDateTime(Date.parse(at));
  const rules = identity?.rules?.map((rule) => JSON.stringify(rule)).join(' ');
  return [
    ['User', username ?? 'anonymous'],
    ['Shown by', identity?.source ?? undefined],
    ['Client identifiers', identity?.client_ids?.join(', ')],
    ['Rules', identity && (rules ?? 'the broker’s defaults')],
    ['Issued', time(identity?.issued_at)],
    ['Expires', time(identity?.expires_at)],
    ['Token', identity?.token_id ?? undefined],
    ['Key', identity?.key_id ?? undefined],
  ];
}

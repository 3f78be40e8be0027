import type { ClientDetails } from '@apus/api';
import { DataList } from '@mantine/core';
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
import { Fact } from './fact.tsx';
import { versionOf } from './mqtt-version.ts';
import { DROP_REASONS } from './observing-api.ts';
import { adminWords } from './strings.ts';

const LIST = { size: 'xs', gap: 4, labelWidth: '140px' } as const;

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
  return (
    <>
      <Connection client={client} />
      <Session client={client} />
      <Traffic now={now} before={before} />
      <Drops client={client} />
      <Identity client={client} />
      <Quotas client={client} />
    </>
  );
}

interface PartProps {
  readonly client: ClientDetails;
}

function Connection({ client }: PartProps) {
  const { node: nodeName = ALONE, connected, door, ip_address, port, connected_seconds, keepalive } = client;
  return (
    <>
      <h3 className={classes.part}>Connection</h3>
      <DataList {...LIST}>
        <Fact label="State" value={connected ? 'connected' : 'not connected'} />
        <Fact label="Door" value={door === null ? undefined : connectionsWords.door[door]} />
        <Fact label="Process" value={nodeName === ALONE ? undefined : nodeName} />
        <Fact label="MQTT" value={connected ? versionOf(client.proto_ver) : undefined} />
        <Fact
          label="Address"
          value={ip_address === null ? undefined : `${ip_address}${port === null ? '' : `:${port}`}`}
        />
        <Fact
          label="Connected for"
          value={connected_seconds === null ? undefined : formatSeconds(connected_seconds * 1_000)}
        />
        <Fact label="Keep alive" value={keepalive === null ? undefined : formatSeconds(keepalive * 1_000)} />
      </DataList>
    </>
  );
}

function Session({ client }: PartProps) {
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
  return (
    <>
      <h3 className={classes.part}>Session</h3>
      <DataList {...LIST}>
        <Fact label="Session expiry" value={expiry} />
        <Fact label="Queue" value={mqueue_len === null ? undefined : `${mqueue_len} waiting`} />
        <Fact label="Window" value={inflight_cnt == null ? undefined : window} />
        <Fact label="Will topic" value={will ?? undefined} />
      </DataList>
    </>
  );
}

function Traffic({ now, before }: ClientFactsProps) {
  const { client } = now;
  if (!client.connected || client.recv_msg == null) return null;
  const told = (name: 'recv_msg' | 'send_msg', octets: number | null | undefined): string => {
    const messages = client[name];
    if (messages == null || octets == null) return 'not counted at this door';
    const rate = perSecond(before, now, name);
    return plural(
      messages,
      `${formatCount(messages)} message${rate === undefined ? '' : ` (${`${formatRate(rate)}/s`})`}, ${formatBytes(octets)}`,
      `${formatCount(messages)} messages${rate === undefined ? '' : ` (${`${formatRate(rate)}/s`})`}, ${formatBytes(octets)}`,
    );
  };
  return (
    <>
      <h3 className={classes.part}>Traffic of this connection</h3>
      <DataList {...LIST}>
        <Fact label="From the client" value={told('recv_msg', client.recv_oct)} />
        <Fact label="To the client" value={told('send_msg', client.send_oct)} />
      </DataList>
    </>
  );
}

function Drops({ client }: PartProps) {
  const all = client['send_msg.dropped'];
  if (all == null) return null;
  return (
    <>
      <h3 className={classes.part}>Dropped messages</h3>
      <DataList {...LIST}>
        <Fact label="In all" value={all === 0 ? 'none' : formatCount(all)} />
        {DROP_REASONS.map((reason) => {
          const count = client[`send_msg.dropped.${reason}`] ?? 0;
          return (
            count > 0 && (
              <Fact key={reason} label={adminWords.client.reasons[reason]} value={formatCount(count)} />
            )
          );
        })}
      </DataList>
    </>
  );
}

function Identity({ client }: PartProps) {
  const { username, identity } = client;
  const time = (at: string | null | undefined): string | undefined =>
    at == null ? undefined : formatDateTime(Date.parse(at));
  return (
    <>
      <h3 className={classes.part}>Identity</h3>
      <DataList {...LIST}>
        <Fact label="User" value={username ?? 'anonymous'} />
        <Fact label="Shown by" value={identity?.source ?? undefined} />
        <Fact label="Client identifiers" value={identity?.client_ids?.join(', ')} />
        <Fact
          label="Rules"
          value={
            identity === undefined
              ? undefined
              : (identity.rules?.map((rule) => JSON.stringify(rule)).join(' ') ?? 'the broker’s defaults')
          }
        />
        <Fact label="Issued" value={time(identity?.issued_at)} />
        <Fact label="Expires" value={time(identity?.expires_at)} />
        <Fact label="Token" value={identity?.token_id ?? undefined} />
        <Fact label="Key" value={identity?.key_id ?? undefined} />
      </DataList>
    </>
  );
}

function Quotas({ client: { quotas } }: PartProps) {
  if (quotas === undefined || Object.keys(quotas).length === 0) return null;
  return (
    <>
      <h3 className={classes.part}>Quotas</h3>
      <DataList {...LIST} labelWidth="180px">
        {Object.entries(quotas).map(([name, quota]) => (
          // The broker's own names, as in its flags and files.
          <Fact key={name} label={name} value={quota === 0 ? 'any number' : formatCount(quota)} />
        ))}
      </DataList>
    </>
  );
}

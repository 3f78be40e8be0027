import type { ClientDetails } from '@apus/api';
import { DataList } from '@mantine/core';
import { t } from '../../i18n/index.ts';
import { formatBytes, formatCount, formatDateTime, formatRate, formatSeconds } from '../../ui/format.ts';
import classes from './admin-view.module.css';
import { type ClientLook, perSecond } from './client-look.ts';
import { Fact } from './fact.tsx';
import { versionOf } from './mqtt-version.ts';
import { DROP_REASONS } from './observing-api.ts';

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
      <h3 className={classes.part}>{t('admin.client.connection')}</h3>
      <DataList {...LIST}>
        <Fact
          label={t('admin.client.state')}
          value={t(connected ? 'admin.client.connected' : 'admin.offline')}
        />
        <Fact
          label={t('admin.columns.door')}
          value={door === null ? undefined : t(`connections.door.${door}`)}
        />
        <Fact label={t('admin.client.process')} value={nodeName === ALONE ? undefined : nodeName} />
        <Fact
          label={t('admin.columns.version')}
          value={connected ? versionOf(client.proto_ver) : undefined}
        />
        <Fact
          label={t('admin.columns.address')}
          value={ip_address === null ? undefined : `${ip_address}${port === null ? '' : `:${port}`}`}
        />
        <Fact
          label={t('admin.client.connectedFor')}
          value={connected_seconds === null ? undefined : formatSeconds(connected_seconds * 1_000)}
        />
        <Fact
          label={t('admin.client.keepAlive')}
          value={keepalive === null ? undefined : formatSeconds(keepalive * 1_000)}
        />
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
        ? t('admin.client.expiryNever')
        : expiry_interval === 0
          ? t('admin.client.expiryAtOnce')
          : formatSeconds(expiry_interval * 1_000);
  const inflight = formatCount(inflight_cnt ?? 0);
  const window =
    recv_maximum === null
      ? t('admin.client.windowOffline', { inflight })
      : t('admin.client.windowText', { inflight, maximum: formatCount(recv_maximum) });
  return (
    <>
      <h3 className={classes.part}>{t('admin.client.session')}</h3>
      <DataList {...LIST}>
        <Fact label={t('admin.client.expiry')} value={expiry} />
        <Fact
          label={t('admin.client.queue')}
          value={mqueue_len === null ? undefined : t('admin.client.queueText', { count: mqueue_len })}
        />
        <Fact label={t('admin.client.window')} value={inflight_cnt == null ? undefined : window} />
        <Fact label={t('admin.client.will')} value={will ?? undefined} />
      </DataList>
    </>
  );
}

function Traffic({ now, before }: ClientFactsProps) {
  const { client } = now;
  if (!client.connected || client.recv_msg == null) return null;
  const told = (name: 'recv_msg' | 'send_msg', octets: number | null | undefined): string => {
    const messages = client[name];
    if (messages == null || octets == null) return t('admin.client.notCounted');
    const rate = perSecond(before, now, name);
    return t('admin.client.rate', {
      count: messages,
      messages: formatCount(messages),
      rate: rate === undefined ? '' : ` (${t('app.perSecond', { rate: formatRate(rate) })})`,
      bytes: formatBytes(octets),
    });
  };
  return (
    <>
      <h3 className={classes.part}>{t('admin.client.traffic')}</h3>
      <DataList {...LIST}>
        <Fact label={t('admin.client.received')} value={told('recv_msg', client.recv_oct)} />
        <Fact label={t('admin.client.sent')} value={told('send_msg', client.send_oct)} />
      </DataList>
    </>
  );
}

function Drops({ client }: PartProps) {
  const all = client['send_msg.dropped'];
  if (all == null) return null;
  return (
    <>
      <h3 className={classes.part}>{t('admin.client.drops')}</h3>
      <DataList {...LIST}>
        <Fact
          label={t('admin.client.allDrops')}
          value={all === 0 ? t('admin.client.none') : formatCount(all)}
        />
        {DROP_REASONS.map((reason) => {
          const count = client[`send_msg.dropped.${reason}`] ?? 0;
          return (
            count > 0 && (
              <Fact key={reason} label={t(`admin.client.reasons.${reason}`)} value={formatCount(count)} />
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
      <h3 className={classes.part}>{t('admin.client.identity')}</h3>
      <DataList {...LIST}>
        <Fact label={t('admin.columns.user')} value={username ?? t('admin.client.anonymous')} />
        <Fact label={t('admin.client.source')} value={identity?.source ?? undefined} />
        <Fact label={t('admin.client.clientIds')} value={identity?.client_ids?.join(', ')} />
        <Fact
          label={t('admin.client.rules')}
          value={
            identity === undefined
              ? undefined
              : (identity.rules?.map((rule) => JSON.stringify(rule)).join(' ') ??
                t('admin.client.rulesDefault'))
          }
        />
        <Fact label={t('admin.client.issued')} value={time(identity?.issued_at)} />
        <Fact label={t('admin.client.expires')} value={time(identity?.expires_at)} />
        <Fact label={t('admin.client.token')} value={identity?.token_id ?? undefined} />
        <Fact label={t('admin.client.key')} value={identity?.key_id ?? undefined} />
      </DataList>
    </>
  );
}

function Quotas({ client: { quotas } }: PartProps) {
  if (quotas === undefined || Object.keys(quotas).length === 0) return null;
  return (
    <>
      <h3 className={classes.part}>{t('admin.client.quotas')}</h3>
      <DataList {...LIST} labelWidth="180px">
        {Object.entries(quotas).map(([name, quota]) => (
          // The broker's own names, as in its flags and files.
          <Fact
            key={name}
            label={name}
            value={quota === 0 ? t('admin.client.unlimited') : formatCount(quota)}
          />
        ))}
      </DataList>
    </>
  );
}

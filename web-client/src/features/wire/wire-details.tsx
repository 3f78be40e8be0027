import { Group, ScrollArea, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { LoggedFrame } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { PacketInspector } from '../../ui/packet-inspector.tsx';
import { savingOfFrame, usdOfMessages } from './savings.ts';
import { PACKETS_OF_FRAME_MAX, type WireRow } from './wire-rows.ts';
import classes from './wire-view.module.css';

interface WireDetailsProps {
  readonly row: WireRow;
  readonly protocolVersion: number;
  readonly isGateway: boolean;
  readonly close: () => void;
}

/** A packet byte by byte, or what a frame is and costs. */
export function WireDetails({ row, protocolVersion, isGateway, close }: WireDetailsProps) {
  const { frame, packet, direction } = row;
  const isFrame = frame !== undefined && packet === undefined;
  return (
    <ScrollArea h="100%" type="auto" viewportProps={{ tabIndex: 0 }}>
      <Group justify="space-between" px="xs" pt={4} wrap="nowrap">
        {isFrame ? (
          <Text size="sm" fw={650} component="h3">
            {t('wire.frame', { number: frame.number, kind: t(`wire.kinds.${frame.kind}`) })}
          </Text>
        ) : (
          <Text size="xs" c="dimmed">
            {t(`wire.${direction}`)}
          </Text>
        )}
        <IconButton label={t('wire.close')} onClick={close}>
          <IconX size={16} stroke={1.5} />
        </IconButton>
      </Group>
      {isFrame && <FrameFacts frame={frame} />}
      {!isFrame && isGateway && (
        <Text size="xs" px="xs">
          {whereText(row)}
        </Text>
      )}
      {packet !== undefined && <PacketInspector bytes={packet} protocolVersion={protocolVersion} />}
    </ScrollArea>
  );
}

function whereText({ frame, frameOf }: WireRow): string {
  if (frame !== undefined)
    return t('wire.inFrame', { number: frame.number, kind: t(`wire.kinds.${frame.kind}`) });
  return t(`wire.alone.${typeof frameOf === 'number' ? 'handshake' : (frameOf ?? 'waits')}`);
}

function FrameFacts({ frame }: { readonly frame: LoggedFrame }) {
  const { kind, characters, packets, taken, parts, more } = frame;
  const { billed, alone, saved } = savingOfFrame(frame);
  const messages = (count: number): string =>
    `${t('wire.messages', { count, shown: formatCount(count) })}, ${usdOfMessages(count)}`;
  const bytes = packets.reduce((sum, { length }) => sum + length, 0);
  const notListed = packets.length - PACKETS_OF_FRAME_MAX;
  const facts = [
    ['size', t('wire.characters', { size: formatBytes(characters), bytes: formatBytes(bytes) })],
    ['billed', messages(billed)],
    ['alone', messages(alone)],
    ['saved', messages(saved)],
  ] as const;
  return (
    <div className={classes.facts}>
      {[
        t(`wire.explained.${kind}`),
        taken !== undefined && t('wire.taken', { taken }),
        parts > 0 && t('wire.parts', { parts }),
        more && t('wire.more'),
        packets.length === 0 && t('wire.noPackets'),
        notListed > 0 && t('wire.morePackets', { count: notListed }),
      ].map((sentence) => sentence !== false && <p key={sentence}>{sentence}</p>)}
      <dl className={classes.factList}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{t(`wire.fact.${name}`)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

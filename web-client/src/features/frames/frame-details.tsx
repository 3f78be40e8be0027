import { Accordion, Group, ScrollArea, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { inspectPacket } from '../../engine/inspect/inspect-packet.ts';
import type { LoggedFrame } from '../../engine/types.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { PacketInspector } from '../../ui/packet-inspector.tsx';
import classes from './frames-view.module.css';
import { savingOfFrame, usdOfMessages } from './savings.ts';

/** Packets that are listed; a frame of the smallest ones holds thousands. */
const PACKETS_SHOWN_MAX = 200;

interface FrameDetailsProps {
  readonly frame: LoggedFrame;
  readonly protocolVersion: number;
  readonly close: () => void;
}

/** A frame: what it is, what it costs, and its packets byte by byte. */
export function FrameDetails({ frame, protocolVersion, close }: FrameDetailsProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<{ readonly frame: LoggedFrame; readonly place: string }>();
  const { kind, characters, packets, taken, parts, more } = frame;
  const { billed, alone, saved } = savingOfFrame(frame);
  const messages = (count: number): string =>
    `${t('frames.messages', { count, shown: formatCount(count) })}, ${usdOfMessages(count)}`;
  const bytes = packets.reduce((sum, { length }) => sum + length, 0);
  return (
    <ScrollArea h="100%" type="auto" viewportProps={{ tabIndex: 0 }}>
      <Group justify="space-between" px="xs" pt={4} wrap="nowrap">
        <Text size="sm" fw={650} component="h3">
          {t('frames.number', { number: frame.number })}
        </Text>
        <IconButton label={t('frames.close')} onClick={close}>
          <IconX size={16} stroke={1.5} />
        </IconButton>
      </Group>
      <div className={classes.facts}>
        <Text size="xs">{t(`frames.explained.${kind}`)}</Text>
        {taken !== undefined && <Text size="xs">{t('frames.taken', { taken })}</Text>}
        {parts > 0 && <Text size="xs">{t('frames.parts', { parts })}</Text>}
        {more && <Text size="xs">{t('frames.more')}</Text>}
        <dl className={classes.factList}>
          <Fact label={t('frames.fact.size')}>
            {t('frames.characters', { size: formatBytes(characters), bytes: formatBytes(bytes) })}
          </Fact>
          <Fact label={t('frames.fact.billed')}>{messages(billed)}</Fact>
          <Fact label={t('frames.fact.alone')}>{messages(alone)}</Fact>
          <Fact label={t('frames.fact.saved')}>{messages(saved)}</Fact>
        </dl>
        <Text size="xs" fw={600} mt="xs">
          {packets.length === 0 ? t('frames.noPackets') : t('frames.packetsHeading')}
        </Text>
      </div>
      <Accordion
        value={open?.frame === frame ? open.place : null}
        onChange={(place) => setOpen(place === null ? undefined : { frame, place })}
        chevronPosition="left"
        classNames={{ content: classes.packet }}
      >
        {packets.slice(0, PACKETS_SHOWN_MAX).map((packet, index) => (
          <PacketItem
            // biome-ignore lint/suspicious/noArrayIndexKey: the packets of a frame never change.
            key={index}
            place={index + 1}
            packet={packet}
            protocolVersion={protocolVersion}
            isOpen={open?.frame === frame && open.place === String(index + 1)}
          />
        ))}
      </Accordion>
      {packets.length > PACKETS_SHOWN_MAX && (
        <Text size="xs" c="dimmed" px="xs" pb="xs">
          {t('frames.morePackets', { count: packets.length - PACKETS_SHOWN_MAX })}
        </Text>
      )}
    </ScrollArea>
  );
}

interface PacketItemProps {
  readonly place: number;
  readonly packet: Uint8Array;
  readonly protocolVersion: number;
  readonly isOpen: boolean;
}

function PacketItem({ place, packet, protocolVersion, isOpen }: PacketItemProps) {
  const { name, summary } = inspectPacket(packet, protocolVersion);
  return (
    <Accordion.Item value={String(place)}>
      <Accordion.Control>
        <span className={classes.packetLine}>
          <span>{place}</span>
          <b>{name}</b>
          <span className={classes.summary}>{summary}</span>
          <span>{formatBytes(packet.length)}</span>
        </span>
      </Accordion.Control>
      <Accordion.Panel>
        {isOpen && <PacketInspector bytes={packet} protocolVersion={protocolVersion} />}
      </Accordion.Panel>
    </Accordion.Item>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

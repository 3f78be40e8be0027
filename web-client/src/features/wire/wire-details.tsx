import { Group, ScrollArea, Text } from '@mantine/core';
import type { LoggedFrame } from '../../engine/types.ts';
import { CloseDetails } from '../../ui/close-details.tsx';
import { formatBytes, formatCount, plural } from '../../ui/format.ts';
import { PacketInspector } from '../../ui/packet-inspector.tsx';
import { savingOfFrame, usdOfMessages } from './savings.ts';
import { wireWords } from './strings.ts';
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
            {`Frame #${frame.number}: ${wireWords.kinds[frame.kind]}`}
          </Text>
        ) : (
          <Text size="xs" c="dimmed">
            {direction === 'out' ? 'client to server' : 'server to client'}
          </Text>
        )}
        <CloseDetails close={close} />
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
  if (frame !== undefined) return `In frame #${frame.number} (${wireWords.kinds[frame.kind]})`;
  return wireWords.alone[typeof frameOf === 'number' ? 'handshake' : (frameOf ?? 'waits')];
}

function FrameFacts({ frame }: { readonly frame: LoggedFrame }) {
  const { kind, characters, packets, taken, parts, more } = frame;
  const { billed, alone, saved } = savingOfFrame(frame);
  const messages = (count: number): string =>
    `${plural(count, `${formatCount(count)} message`, `${formatCount(count)} messages`)}, ${usdOfMessages(count)}`;
  const bytes = packets.reduce((sum, { length }) => sum + length, 0);
  const notListed = packets.length - PACKETS_OF_FRAME_MAX;
  const facts = [
    ['Size', `${formatBytes(characters)} of text for ${formatBytes(bytes)} of MQTT`],
    ['Billed', messages(billed)],
    ['One frame for each packet', messages(alone)],
    ['Saved', messages(saved)],
  ] as const;
  return (
    <div className={classes.facts}>
      {[
        wireWords.explained[kind],
        taken !== undefined &&
          `Only ${taken} of the packets were handled; the client sends the others again.`,
        parts > 0 && `Parts that belong to it: ${parts}.`,
        more && 'More is waiting, and is fetched next.',
        packets.length === 0 && 'There is no packet in it.',
        notListed > 0 &&
          `${notListed} ${plural(notListed, 'packet of it is', 'packets of it are')} not listed.`,
      ].map((sentence) => sentence !== false && <p key={sentence}>{sentence}</p>)}
      <dl className={classes.factList}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

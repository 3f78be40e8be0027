import { useElementSize } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import type { PacketField } from '../engine/inspect/field.ts';
import { inspectPacket } from '../engine/inspect/inspect-packet.ts';
import { CopyButton } from './copy-button.tsx';
import { formatBytes, plural } from './format.ts';
import classes from './packet-inspector.module.css';
import { visibleText } from './visible-text.ts';

/** Bytes that are rendered one by one; of a larger packet the copy button takes all. */
const SHOWN_BYTES_MAX = 512;

/** Bytes in a row, where there is room for sixteen and where not. */
const BYTES_PER_ROW = { wide: 16, narrow: 8 } as const;

/** Sixteen bytes, their address and their characters. */
const WIDE_PX = 500;

/** Fields that are shown: a packet may have a hundred thousand properties. */
const FIELDS_MAX = 300;

/** Characters of a field's value that are shown. */
const VALUE_LENGTH_MAX = 300;

interface PacketInspectorProps {
  readonly bytes: Uint8Array;
  readonly protocolVersion: number;
}

/** A packet field by field, beside its bytes; pointing at one highlights the other. */
export function PacketInspector({ bytes, protocolVersion }: PacketInspectorProps) {
  const { fields: all, name } = useMemo(
    () => inspectPacket(bytes, protocolVersion),
    [bytes, protocolVersion],
  );
  const fields = useMemo(() => all.slice(0, FIELDS_MAX), [all]);
  const [marked, setMarked] = useState<PacketField | undefined>();
  const { ref, width } = useElementSize();
  return (
    <div className={classes.inspector} ref={ref}>
      <table className={classes.fields}>
        <caption className={classes.caption}>{`${name}, ${formatBytes(bytes.length)}`}</caption>
        <tbody>
          {fields.map((field) => (
            <tr
              key={`${field.offset}-${field.name}`}
              data-marked={field === marked || undefined}
              onPointerEnter={() => setMarked(field)}
              onPointerLeave={() => setMarked(undefined)}
            >
              <th scope="row" style={{ paddingInlineStart: 8 + field.depth * 14 }}>
                {field.name}
              </th>
              <td>{visibleText(field.value.slice(0, VALUE_LENGTH_MAX))}</td>
              <td className={classes.place}>{`${field.offset} +${field.length}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length > FIELDS_MAX && (
        <p className={classes.more}>
          {`${all.length - FIELDS_MAX} more ${plural(all.length - FIELDS_MAX, 'field is', 'fields are')} not shown`}
        </p>
      )}
      <div className={classes.bytesHead}>
        <span>Bytes</span>
        <CopyButton text={() => hexOf(bytes)} label="Copy the bytes in hexadecimal" />
      </div>
      <Bytes
        bytes={bytes}
        fields={fields}
        marked={marked}
        onMark={setMarked}
        perRow={width >= WIDE_PX ? BYTES_PER_ROW.wide : BYTES_PER_ROW.narrow}
      />
      {bytes.length > SHOWN_BYTES_MAX && (
        <p className={classes.more}>
          {`${formatBytes(bytes.length - SHOWN_BYTES_MAX)} more are not shown; copying takes all.`}
        </p>
      )}
    </div>
  );
}

interface BytesProps {
  readonly bytes: Uint8Array;
  readonly fields: readonly PacketField[];
  readonly marked: PacketField | undefined;
  readonly onMark: (field: PacketField | undefined) => void;
  readonly perRow: number;
}

function Bytes({ bytes, fields, marked, onMark, perRow }: BytesProps) {
  const shown = bytes.subarray(0, SHOWN_BYTES_MAX);
  const rows = Array.from({ length: Math.ceil(shown.length / perRow) }, (_, index) => index * perRow);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className={classes.bytes} role="group" tabIndex={0} aria-label="Bytes">
      {rows.map((start) => (
        <div key={start} className={classes.byteRow}>
          <span className={classes.address}>{start.toString(16).padStart(4, '0')}</span>
          {Array.from(shown.subarray(start, start + perRow), (byte, index) => {
            const at = start + index;
            return (
              <span
                key={at}
                data-marked={isIn(marked, at) || undefined}
                data-odd={fieldIndexAt(fields, at) % 2 === 1 || undefined}
                onPointerEnter={() => onMark(fields[fieldIndexAt(fields, at)])}
                onPointerLeave={() => onMark(undefined)}
              >
                {byte.toString(16).padStart(2, '0')}
              </span>
            );
          })}
          {/* As wide as the missing bytes, so that the text is aligned with that of the other rows. */}
          <span style={{ padding: 0, width: `calc(${missingIn(shown, start, perRow)} * (2ch + 4px))` }} />
          <span className={classes.ascii}>{asciiOf(shown.subarray(start, start + perRow))}</span>
        </div>
      ))}
    </div>
  );
}

function missingIn(shown: Uint8Array, start: number, perRow: number): number {
  return Math.max(0, start + perRow - shown.length);
}

function isIn(field: PacketField | undefined, at: number): boolean {
  return field !== undefined && at >= field.offset && at < field.offset + field.length;
}

/** Fields lie one behind the other. */
function fieldIndexAt(fields: readonly PacketField[], at: number): number {
  return fields.findLastIndex(({ offset, length }) => at >= offset && at < offset + length);
}

function asciiOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(
    '',
  );
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

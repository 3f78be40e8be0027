import { Group, SegmentedControl, Select } from '@mantine/core';
import { useMemo, useState } from 'react';
import { AfterPaint } from '../../ui/after-paint.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Changes } from './changes.tsx';
import { type Decoded, type FormatChoice, PAYLOAD_FORMATS } from './decode.ts';
import { DecodersButton } from './decoders/decoders-button.tsx';
import { useTopicDecoder } from './decoders/use-topic-decoder.ts';
import { chooseFormat, useFormatChoice } from './format-store.ts';
import type { ValuePath } from './json-path.ts';
import { JsonTree } from './json-tree.tsx';
import classes from './payload-view.module.css';
import { blocksOf, copiedText, isStructured, shownText } from './shown-text.ts';
import { decodeWords } from './strings.ts';

const LOOKS = ['tree', 'text', 'changes'] as const;
type Look = (typeof LOOKS)[number];

interface PayloadViewProps {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly contentType?: string | undefined;
  /** The previous payload of the same topic, for comparison. */
  readonly previous: Uint8Array | undefined;
  /** The user clicked a number, at that path of the payload. */
  readonly onChart: (path: ValuePath) => void;
}

/** A decoded payload: as a tree whose numbers can be charted, as text, or as its changes. */
export function PayloadView({ topic, payload, contentType, previous, onChart }: PayloadViewProps) {
  const choice = useFormatChoice(topic);
  const decode = useTopicDecoder(topic, choice, contentType);
  const decoded = useMemo(() => decode(payload), [payload, decode]);
  const [chosenLook, setLook] = useState<Look>('tree');
  const looks = LOOKS.filter((look) => look !== 'tree' || isStructured(decoded));
  const look = looks.includes(chosenLook) ? chosenLook : 'text';
  return (
    <div className={classes.view}>
      <Group gap={6} className={classes.head}>
        <FormatSelect topic={topic} choice={choice} decoded={decoded} />
        <DecodersButton topic={topic} />
        <SegmentedControl
          className={classes.look}
          aria-label="How to show it"
          data={looks.map((value) => ({ value, label: decodeWords.looks[value] }))}
          value={look}
          onChange={setLook}
        />
        <CopyButton text={() => copiedText(decoded)} label="Copy the payload as shown" />
      </Group>
      {decoded.problem !== '' && (
        <p className={classes.problem}>
          {decoded.isTooMuch === true
            ? `Not shown as a tree: ${decoded.problem}`
            : `This is not ${decodeWords.formats[decoded.format]}: ${decoded.problem}`}
        </p>
      )}
      {look === 'tree' && (
        <AfterPaint>
          <JsonTree value={decoded.value} onChart={onChart} />
        </AfterPaint>
      )}
      {look === 'text' && <PayloadText decoded={decoded} />}
      {look === 'changes' && <Changes decoded={decoded} previous={previous} decode={decode} />}
    </div>
  );
}

interface FormatSelectProps {
  readonly topic: string;
  readonly choice: FormatChoice;
  readonly decoded: Decoded;
}

function FormatSelect({ topic, choice, decoded }: FormatSelectProps) {
  const { format, wrapping } = decoded;
  const name = decodeWords.formats[format];
  const found = wrapping === 'none' ? name : `${name} in ${decodeWords.formats[wrapping]}`;
  const auto = choice === 'auto' ? `Auto: ${found}` : 'Auto';
  return (
    <Select
      className={classes.format}
      aria-label="Format"
      data={[
        { value: 'auto' as const, label: auto },
        ...PAYLOAD_FORMATS.map((value) => ({ value, label: decodeWords.formats[value] })),
      ]}
      value={choice}
      onChange={(value) => chooseFormat(topic, value ?? 'auto')}
    />
  );
}

function PayloadText({ decoded }: { readonly decoded: Decoded }) {
  const [isWhole, setWhole] = useState(false);
  const { text, isCut } = useMemo(() => shownText(decoded, isWhole), [decoded, isWhole]);
  const blocks = useMemo(() => blocksOf(text), [text]);
  if (decoded.bytes.length === 0) return <p className={classes.note}>The payload is empty.</p>;
  const isDump = decoded.format === 'hex' || (decoded.problem !== '' && decoded.format !== 'text');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className={classes.scroller} role="group" tabIndex={0} aria-label="Payload">
      <pre className={classes.text} data-dump={isDump || undefined}>
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other name, and does not move
          <span key={index} className={classes.block}>
            {block}
          </span>
        ))}
      </pre>
      {isCut && isWhole && <p className={classes.note}>The page shows no more of it. “Copy” has all.</p>}
      {isCut && !isWhole && (
        <button type="button" className={classes.more} onClick={() => setWhole(true)}>
          {`Show all ${formatBytes(decoded.bytes.length)}`}
        </button>
      )}
    </div>
  );
}

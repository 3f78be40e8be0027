import { Alert, Button, FileButton, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { type DragEvent, useState } from 'react';
import { t } from '../../../i18n/index.ts';
import { filterProblem } from '../../subscriptions/filter-problem.ts';
import classes from './decoders-dialog.module.css';
import { useDecoders } from './registry.ts';
import { addRule } from './rule-archive.ts';
import { DECODER_KINDS, type DecoderKind, RULES_MAX, type SchemaFile } from './rules.ts';
import { checkSchema, readSchemaFiles } from './schema-files.ts';

const ACCEPTED: Partial<Record<DecoderKind, string>> = { protobuf: '.proto', avro: '.avsc,.json' };

/** The dropped file, and its contents or the error in it. */
interface Schema {
  readonly files: readonly SchemaFile[];
  readonly messageTypes: readonly string[];
  readonly problem: string;
}

const NO_SCHEMA: Schema = { files: [], messageTypes: [], problem: '' };

export function AddDecoder({ topic, isFirst }: { readonly topic: string; readonly isFirst: boolean }) {
  const [filter, setFilter] = useState(isFirst ? topic : '');
  const [kind, setKind] = useState<DecoderKind>('protobuf');
  const [schema, setSchema] = useState(NO_SCHEMA);
  const [messageType, setMessageType] = useState('');
  const isFull = useDecoders(({ rules }) => rules.length >= RULES_MAX);
  const wrongFilter = filter === '' ? undefined : filterProblem(filter);
  const needsSchema = ACCEPTED[kind] !== undefined;
  const isReady =
    filter !== '' &&
    wrongFilter === undefined &&
    !isFull &&
    schema.problem === '' &&
    (!needsSchema || schema.files.length > 0) &&
    (kind !== 'protobuf' || messageType !== '');
  const take = async (dropped: readonly File[]): Promise<void> => {
    const read = await readSchemaFiles(dropped, kind === 'protobuf' ? schema.files : []);
    const checked =
      'tooLarge' in read
        ? { ...NO_SCHEMA, problem: t('decode.decoders.tooLarge', { name: read.tooLarge }) }
        : { files: read.files, ...(await checkSchema(kind, read.files)) };
    setSchema(checked);
    setMessageType(checked.messageTypes[0] ?? '');
  };
  const add = (): void => {
    void addRule({ filter, kind, schemas: schema.files, messageType });
    setFilter('');
    setSchema(NO_SCHEMA);
    setMessageType('');
  };
  return (
    <Stack gap="xs">
      <Group grow align="start">
        <TextInput
          label={t('decode.decoders.filter')}
          value={filter}
          error={wrongFilter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <Select
          label={t('decode.decoders.kind')}
          allowDeselect={false}
          data={DECODER_KINDS.map((value) => ({ value, label: t(`decode.formats.${value}`) }))}
          value={kind}
          onChange={(value) => {
            setKind(DECODER_KINDS.find((known) => known === value) ?? 'protobuf');
            setSchema(NO_SCHEMA);
            setMessageType('');
          }}
        />
      </Group>
      {needsSchema && <SchemaDrop kind={kind} files={schema.files} onFiles={(files) => void take(files)} />}
      {schema.problem !== '' && (
        <Alert color="red" variant="light" p="xs">
          {schema.problem}
        </Alert>
      )}
      {kind === 'protobuf' && schema.messageTypes.length > 0 && (
        <Select
          label={t('decode.decoders.messageType')}
          allowDeselect={false}
          searchable
          data={schema.messageTypes.map((value) => ({ value, label: value }))}
          value={messageType}
          onChange={(value) => setMessageType(value ?? '')}
        />
      )}
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {isFull && t('decode.decoders.full', { max: RULES_MAX })}
        </Text>
        <Button disabled={!isReady} onClick={add}>
          {t('decode.decoders.add')}
        </Button>
      </Group>
    </Stack>
  );
}

interface SchemaDropProps {
  readonly kind: DecoderKind;
  readonly files: readonly SchemaFile[];
  readonly onFiles: (files: readonly File[]) => void;
}

function SchemaDrop({ kind, files, onFiles }: SchemaDropProps) {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  const dropped = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    onFiles([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no set of form fields
    <div
      role="group"
      aria-label={t('decode.decoders.schema')}
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      <Text size="xs" flex={1}>
        {files.length === 0
          ? t(kind === 'protobuf' ? 'decode.decoders.protobufHint' : 'decode.decoders.avroHint')
          : files.map(({ name }) => name).join(', ')}
      </Text>
      <FileButton
        multiple
        accept={ACCEPTED[kind] ?? ''}
        onChange={onFiles}
        inputProps={{ 'aria-label': t('decode.decoders.files') }}
      >
        {(props) => (
          <Button variant="default" {...props}>
            {t('decode.decoders.choose')}
          </Button>
        )}
      </FileButton>
    </div>
  );
}

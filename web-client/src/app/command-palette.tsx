import { Modal, Text, TextInput, useMantineColorScheme } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { plural } from '../ui/format.ts';
import classes from './command-palette.module.css';
import { commandsNow } from './commands.ts';
import { type Command, fittingCommands } from './find-commands.ts';

/** Most lines that are offered: a user with a thousand connections types another letter. */
const SHOWN_MAX = 50;

/** All actions of the page, found by name. */
export function CommandPalette({ close }: { readonly close: () => void }) {
  const { setColorScheme } = useMantineColorScheme();
  const [sought, setSought] = useState('');
  const [wanted, setWanted] = useState(0);
  const commands = useMemo(() => commandsNow(setColorScheme), [setColorScheme]);
  const fitting = useMemo(() => fittingCommands(commands, sought), [commands, sought]);
  const shown = fitting.slice(0, SHOWN_MAX);
  const active = Math.min(wanted, shown.length - 1);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    close();
    command.run();
  };
  const pressed = (event: KeyboardEvent): void => {
    const next = nextLine(event.key, active, shown.length);
    if (next !== undefined) setWanted(next);
    else if (event.key === 'Enter') run(shown[active]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal.Root opened onClose={close} padding={0} size={560} yOffset="12vh">
      <Modal.Overlay />
      <Modal.Content aria-label="Commands">
        <TextInput
          className={classes.search}
          variant="unstyled"
          size="md"
          role="combobox"
          aria-label="What do you want to do?"
          aria-expanded
          aria-autocomplete="list"
          aria-controls={shown.length > 0 ? 'commands' : undefined}
          aria-activedescendant={shown.length > 0 ? `command-${active}` : undefined}
          placeholder="What do you want to do?"
          leftSection={<IconSearch size={18} stroke={1.5} />}
          spellCheck={false}
          data-autofocus
          value={sought}
          onKeyDown={pressed}
          onChange={(event) => {
            setSought(event.currentTarget.value);
            setWanted(0);
          }}
        />
        <Lines shown={shown} active={active} run={run} />
        <Text size="xs" c="dimmed" className={classes.foot} role="status">
          {fitting.length > shown.length
            ? `The first ${shown.length} of ${fitting.length}: type more of the name`
            : plural(fitting.length, `${fitting.length} command`, `${fitting.length} commands`)}
        </Text>
      </Modal.Content>
    </Modal.Root>
  );
}

interface LinesProps {
  readonly shown: readonly Command[];
  readonly active: number;
  readonly run: (command: Command) => void;
}

function Lines({ shown, active, run }: LinesProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  if (shown.length === 0) return <p className={classes.none}>No command has this name.</p>;
  return (
    <div ref={list} className={classes.lines} id="commands" role="listbox" aria-label="Commands">
      {shown.map((command, index) => (
        // The field above has the keyboard focus, as in ARIA's combobox pattern.
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above
        // biome-ignore lint/a11y/useFocusableInteractive: see above
        <div
          key={command.id}
          id={`command-${index}`}
          className={classes.line}
          role="option"
          aria-selected={index === active}
          onClick={() => run(command)}
        >
          <span className={classes.label}>{command.label}</span>
          <span className={classes.kind}>{command.kind}</span>
        </div>
      ))}
    </div>
  );
}

/** Wraps around, as in a menu. */
function nextLine(key: string, active: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (active + 1) % count;
  if (key === 'ArrowUp') return (active - 1 + count) % count;
  return undefined;
}

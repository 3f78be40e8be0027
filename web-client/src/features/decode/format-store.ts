import { create } from 'zustand';
import type { FormatChoice } from './decode.ts';

/** Topics with a format that the user chose; above it the oldest choice is dropped. */
const CHOICES_MAX = 500;

/** The chosen formats by topic. The format of any other topic is detected. */
const useFormatStore = create<ReadonlyMap<string, FormatChoice>>(() => new Map());

export function useFormatChoice(topic: string): FormatChoice {
  return useFormatStore((choices) => choices.get(topic) ?? 'auto');
}

export function chooseFormat(topic: string, choice: FormatChoice): void {
  const choices = new Map(useFormatStore.getState());
  choices.delete(topic);
  if (choice !== 'auto') choices.set(topic, choice);
  const [oldest] = choices.keys();
  if (choices.size > CHOICES_MAX && oldest !== undefined) choices.delete(oldest);
  useFormatStore.setState(choices, true);
}

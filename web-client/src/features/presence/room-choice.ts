import { create } from 'zustand';

/** The room that the view shows, by the connection's id. It outlives the view. */
const useChoices = create<Readonly<Record<string, string>>>(() => ({}));

/** The chosen room, or the first that is watched. */
export function useChosenRoom(
  connectionId: string,
  watched: readonly string[],
): readonly [room: string | undefined, choose: (room: string) => void] {
  const chosen = useChoices((choices) => choices[connectionId]);
  const room = chosen !== undefined && watched.includes(chosen) ? chosen : watched[0];
  return [room, (name) => useChoices.setState({ [connectionId]: name })];
}

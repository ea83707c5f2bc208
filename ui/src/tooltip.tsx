// A row of a tooltip: what something is called, and its value.
export const Row = ({ name, value }: { name: string; value: string }) => (
  <div class="tooltip-row">
    <span class="soft">{name}</span>
    <span>{value}</span>
  </div>
);

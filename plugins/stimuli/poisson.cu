/* The device's side of the Poisson stimulus: one neuron's events of one step. */
struct mill_data {
  uint64_t key;
  int64_t start, stop;
  struct mill_poisson table;
};

static inline uint32_t mill_events(const struct mill_data *data, uint32_t neuron, int64_t step)
{
  if (step < data->start || step >= data->stop || data->table.size == 0)
    return 0;
  return mill_poisson_draw(&data->table, data->key, neuron, step);
}

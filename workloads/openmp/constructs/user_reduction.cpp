/*
 * user_reduction: sums of C++ objects, in loops over iterators and over ranges.
 *
 * 3 parallel regions, no tasks.
 */
#include "check.h"
#include <map>
#include <string>
#include <vector>

using counts = std::map<std::string, long>;

static void add(counts &all, const counts &more)
{
    for (const auto &[word, times] : more)
        all[word] += times;
}

#pragma omp declare reduction(add : counts : add(omp_out, omp_in))
#pragma omp declare reduction(append : std::vector<int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))

int main()
{
    std::vector<std::string> words;
    for (int i = 0; i < 300; i++)
        words.push_back(i % 3 == 0 ? "task" : i % 3 == 1 ? "loop" : "region");
    counts all;
#pragma omp parallel for reduction(add : all)
    for (auto word = words.begin(); word != words.end(); ++word)
        all[*word]++;
    check("words", static_cast<long>(all.size()), 3);
    check("times", all["task"] + 1000 * all["loop"] + 1000000 * all["region"], 100100100);

    long letters = 0;
#pragma omp parallel for reduction(+ : letters)
    for (const auto &word : words)
        letters += static_cast<long>(word.size());
    check("letters", letters, 1400);

    std::vector<int> found;
#pragma omp parallel for reduction(append : found) schedule(dynamic, 5)
    for (int i = 0; i < 300; i++)
        if (i % 7 == 0)
            found.push_back(i);
    long sum = 0;
    for (int i : found)
        sum += i;
    check("found", static_cast<long>(found.size()), 43);
    check("sum of what was found", sum, 7 * 42 * 43 / 2);
    return checked("user_reduction", 3, 0);
}

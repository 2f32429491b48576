// A classifier of flowers from a CSV file: columns by name, categories, and a second file.
#include <hearth/data/csv.h>
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;
using data::datasets::CSV;
using data::datasets::CSVOptions;

namespace {

constexpr const char* kTrain = R"(sepal_length,sepal_width,petal_length,petal_width,species
5.1,3.5,1.4,0.2,setosa
4.9,3.0,1.4,0.2,setosa
4.7,3.2,1.3,0.2,setosa
5.4,3.9,1.7,0.4,setosa
5.0,3.4,1.5,0.2,setosa
4.4,2.9,1.4,0.2,setosa
7.0,3.2,4.7,1.4,versicolor
6.4,3.2,4.5,1.5,versicolor
5.5,2.3,4.0,1.3,versicolor
6.5,2.8,4.6,1.5,versicolor
5.7,2.8,4.5,1.3,versicolor
4.9,2.4,3.3,1.0,versicolor
6.3,3.3,6.0,2.5,virginica
5.8,2.7,5.1,1.9,virginica
7.1,3.0,5.9,2.1,virginica
6.3,2.9,5.6,1.8,virginica
6.5,3.0,5.8,2.2,virginica
7.6,3.0,6.6,2.1,virginica
)";

// Other flowers, with the columns in another order and a column that the options ignore.
constexpr const char* kTest = R"(comment,species,petal_width,petal_length,sepal_width,sepal_length
"small, pale",setosa,0.3,1.4,3.4,4.6
,versicolor,1.5,4.9,3.1,6.9
"the ""largest"" one",virginica,2.2,6.7,3.8,7.7
,versicolor,1.3,4.2,2.7,5.6
)";

const std::vector<std::string> kFeatures = {"sepal_length", "sepal_width", "petal_length",
                                            "petal_width"};

}  // namespace

int main() {
  manual_seed(1);
  // CSV("flowers.csv", options) reads a file.
  const CSVOptions options = CSVOptions().data(kFeatures).target("species").categorical("species");
  const CSV train = CSV::from_text(kTrain, options);
  const data::Vocab& species = train.categories()["species"];
  std::cout << train.data().sizes() << ' ' << train.target().dtype() << ", " << species.size()
            << " species\n";

  const Tensor mean = train.data().mean(0), deviation = train.data().std(0);
  const auto normalized = [&](const Tensor& x) { return (x - mean) / deviation; };
  nn::Sequential net(nn::Linear(4, 16), nn::Tanh(), nn::Linear(16, int64_t(species.size())));
  optim::Adam adam(net->parameters(), 0.02);
  // batched() reads whole batches, without a tensor for each example.
  const auto loader = data::make_data_loader(train.batched(), 6);
  for (int epoch = 0; epoch < 60; ++epoch)
    for (const auto& batch : *loader) {
      adam.zero_grad();
      nn::functional::cross_entropy(net->forward(normalized(batch.data)), batch.target).backward();
      adam.step();
    }

  // The test file's species get the numbers of the training file.
  const CSV test = CSV::from_text(kTest, CSVOptions(options).categories(train.categories()));
  const NoGradGuard no_grad;
  const Tensor guess = net->forward(normalized(test.data())).argmax(1);
  const std::vector<std::string> names = species.lookup_tokens(guess);
  for (size_t i = 0; i < names.size(); ++i)
    std::cout << names[i] << (guess[int64_t(i)].equal(test.target()[int64_t(i)]) ? "" : " (wrong)")
              << '\n';

  try {
    CSV::from_text("width,height\n1,2\n3,tall\n", {}, "boxes.csv");
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
  }
}

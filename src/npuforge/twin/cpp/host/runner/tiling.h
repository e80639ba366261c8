// SPDX-License-Identifier: Apache-2.0
// `tiling`: builds a Node from a request and runs the operator's inference and tiling on it.
#pragma once

#include <algorithm>
#include <iterator>
#include <list>

#include "runner/request.h"

namespace npuforge::host {

class TilingRun {
public:
    TilingRun(const Registry& registry, const Request& request)
        : prototype_(PrototypeOf(registry, request.op)), request_(request) {
        if (prototype_.definition == nullptr && prototype_.functions.tiling == nullptr) {
            throw BadRequest("the host library does not register an operator " + request.op);
        }
        node_.info.type = request.op;
        node_.info.name = request.name.empty() ? request.op : request.name;
        node_.deterministic = request.deterministic;
        node_.compile_json = request.compile_info;
        platform_.SetCoreNumByCoreType(request.cube_cores ? "AiCore" : "VectorCore");
        node_.platform = &platform_;
        AddInputs();
        AddOutputs();
        AddAttrs();
        PresetOutputs();
    }

    // Whether the request leaves some output to inference, which then has to come first.
    bool NeedsInference() const {
        std::map<std::string, size_t> missing;
        for (const auto& name : output_names_) ++missing[name];
        for (const auto& given : request_.outputs) {
            if (missing[given.name] > 0) --missing[given.name];
        }
        return std::any_of(missing.begin(), missing.end(), [](const auto& item) { return item.second; });
    }

    // Inference of output shapes and types; throws what is wrong with it.
    void Infer() {
        const OpFunctions& functions = prototype_.functions;
        if (functions.infer_shape != nullptr) {
            gert::InferShapeContext context(node_);
            shapes_inferred_ = functions.infer_shape(&context) == ge::GRAPH_SUCCESS;
            if (!shapes_inferred_) throw std::runtime_error("shape inference reported failure");
        }
        if (functions.infer_data_type != nullptr) {
            gert::InferDataTypeContext context(node_);
            if (functions.infer_data_type(&context) != ge::GRAPH_SUCCESS) {
                throw std::runtime_error("element type inference reported failure");
            }
        } else if (functions.same_type_as_first_input && !node_.info.inputs.empty()) {
            for (auto& type : node_.inferred_types) type = node_.info.inputs[0]->GetDataType();
        }
    }

    void Tile(Json& json) {
        SettleOutputs();
        json.Key("outputs").Open('[');
        for (size_t i = 0; i < output_names_.size(); ++i) {
            const gert::Tensor& tensor = *node_.info.outputs[i];
            json.Open('{').Key("name").Value(output_names_[i]);
            json.Key("dtype").Value(ge::TypeUtils::DataTypeToSerialString(tensor.GetDataType()));
            json.Key("format").Value(ge::TypeUtils::FormatToSerialString(tensor.GetStorageFormat()));
            json.Key("shape");
            WriteShape(json, tensor.GetStorageShape());
            json.Close('}');
        }
        json.Close(']');
        if (prototype_.functions.tiling == nullptr) {
            throw std::runtime_error("the operator registers no tiling function");
        }
        Parse();
        gert::TilingContext context(node_);
        const auto status = prototype_.functions.tiling(&context);
        json.Key("status").Value(status == ge::GRAPH_SUCCESS ? "ok" : "failed");
        json.Key("graph_status").Value(status);
        WriteAnswers(json);
    }

    void WriteInference(Json& json, const std::string& problem) const {
        json.Key("inference").Open('{').Key("problem").Value(problem).Key("outputs").Open('[');
        for (size_t i = 0; i < output_names_.size(); ++i) {
            json.Open('{').Key("dtype");
            json.Value(ge::TypeUtils::DataTypeToSerialString(node_.inferred_types[i])).Key("shape");
            if (shapes_inferred_) {
                WriteShape(json, node_.inferred_shapes[i]);
            } else {
                json.Null();
            }
            json.Close('}');
        }
        json.Close(']').Close('}');
    }

private:
    void AddInputs() {
        std::vector<std::string> order;
        for (const auto& param : prototype_.inputs) order.push_back(param.name);
        if (prototype_.definition == nullptr) order = NamesInOrder();
        for (const auto& name : order) {
            const size_t start = node_.info.inputs.size();
            for (const auto& given : request_.inputs) {
                if (given.name == name) node_.info.inputs.push_back(MakeTensor(given));
            }
            node_.info.ir_inputs.emplace_back(start, node_.info.inputs.size() - start);
            input_names_.resize(node_.info.inputs.size(), name);
        }
        CheckNames(order);
    }

    std::vector<std::string> NamesInOrder() const {
        std::vector<std::string> names;
        const auto add = [&names](const std::string& name) {
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        };
        for (const auto& given : request_.inputs) add(given.name);
        for (const auto& name : request_.absent) add(name);
        return names;
    }

    void CheckNames(const std::vector<std::string>& known) const {
        const auto declared = [&known](const std::string& name) {
            return std::find(known.begin(), known.end(), name) != known.end();
        };
        for (const auto& given : request_.inputs) {
            if (!declared(given.name)) {
                throw BadRequest(request_.op + " has no input named " + given.name);
            }
        }
        for (size_t i = 0; i < prototype_.inputs.size(); ++i) {
            if (prototype_.inputs[i].param_type == ops::REQUIRED &&
                node_.info.ir_inputs[i].GetInstanceNum() != 1) {
                throw BadRequest("input " + prototype_.inputs[i].name + " must be given once");
            }
        }
    }

    std::unique_ptr<gert::Tensor> MakeTensor(const TensorRequest& given) {
        auto tensor = std::make_unique<gert::Tensor>();
        tensor->MutableStorageShape() = given.shape;
        tensor->MutableOriginShape() = given.origin;
        tensor->desc.SetDataType(given.type);
        tensor->desc.SetStorageFormat(given.format);
        tensor->desc.SetOriginFormat(given.origin_format);
        if (given.data_file.empty()) return tensor;
        std::ifstream file(given.data_file, std::ios::binary);
        if (!file) throw BadRequest("cannot read the data file " + given.data_file);
        auto& bytes = data_.emplace_back(std::istreambuf_iterator<char>(file),
                                         std::istreambuf_iterator<char>());
        tensor->data.Set(bytes.data(), bytes.size(), gert::kOnHost);
        return tensor;
    }

    void AddOutputs() {
        if (prototype_.definition == nullptr) {
            for (const auto& given : request_.outputs) AddOutput(given.name);
            return;
        }
        for (const auto& param : prototype_.outputs) {
            size_t count = 1;
            if (param.param_type == ops::DYNAMIC) {
                count = std::count_if(request_.outputs.begin(), request_.outputs.end(),
                                      [&param](const auto& given) { return given.name == param.name; });
            }
            const size_t start = node_.info.outputs.size();
            for (size_t i = 0; i < count; ++i) AddOutput(param.name);
            if (count != 1) node_.info.ir_outputs.emplace_back(start, count);
        }
    }

    void AddOutput(const std::string& name) {
        node_.info.ir_outputs.emplace_back(node_.info.outputs.size(), 1);
        node_.info.outputs.push_back(std::make_unique<gert::Tensor>());
        output_names_.push_back(name);
        node_.inferred_shapes.emplace_back();
        node_.inferred_types.push_back(ge::DT_UNDEFINED);
    }

    void AddAttrs() {
        if (prototype_.definition == nullptr) {
            for (const auto& [name, value] : request_.attrs) {
                node_.info.attrs.values.push_back(std::make_unique<Attribute>(value));
            }
            return;
        }
        for (const auto& [name, value] : request_.attrs) {
            const auto& attrs = prototype_.definition->attrs;
            const std::string& wanted = name;  // clang 14 does not capture a structured binding
            if (std::none_of(attrs.begin(), attrs.end(),
                             [&](const auto& attr) { return attr.name == wanted; })) {
                throw BadRequest(request_.op + " has no attribute named " + wanted);
            }
        }
        for (const auto& attr : prototype_.definition->attrs) {
            AttrValue value = attr.default_value;
            bool given = false;
            for (const auto& [name, wanted] : request_.attrs) {
                if (name != attr.name) continue;
                value = wanted;
                given = true;
            }
            if (attr.required && !given) throw BadRequest("attribute " + attr.name + " is required");
            node_.info.attrs.values.push_back(std::make_unique<Attribute>(std::move(value)));
        }
    }

    // The first declared combination of element types that fits all inputs.
    size_t Combination() const {
        size_t count = 0;
        for (const auto& param : prototype_.inputs) {
            if (!param.type_is_list) count = std::max(count, param.types.size());
        }
        for (size_t choice = 0; choice < count; ++choice) {
            bool fits = true;
            for (size_t i = 0; i < node_.info.inputs.size() && fits; ++i) {
                for (const auto& param : prototype_.inputs) {
                    if (param.name != input_names_[i] || param.type_is_list) continue;
                    fits = choice < param.types.size() &&
                           param.types[choice] == node_.info.inputs[i]->GetDataType();
                }
            }
            if (fits) return choice;
        }
        return count;
    }

    // What the declared combinations say about outputs, before any inference.
    void PresetOutputs() {
        const size_t choice = Combination();
        for (size_t i = 0; i < output_names_.size(); ++i) {
            for (const auto& param : prototype_.outputs) {
                if (param.name != output_names_[i]) continue;
                if (choice < param.types.size()) node_.inferred_types[i] = param.types[choice];
                if (param.types.size() == 1) node_.inferred_types[i] = param.types.front();
                if (!param.formats.empty()) format_[param.name] = param.formats.front();
                if (choice < param.formats.size()) format_[param.name] = param.formats[choice];
            }
        }
    }

    // Outputs of the request win: they are the tensors the kernel will really write.
    void SettleOutputs() {
        std::map<std::string, size_t> used;
        for (size_t i = 0; i < output_names_.size(); ++i) {
            gert::Tensor& tensor = *node_.info.outputs[i];
            tensor.desc.SetDataType(node_.inferred_types[i]);
            tensor.MutableStorageShape() = node_.inferred_shapes[i];
            tensor.MutableOriginShape() = node_.inferred_shapes[i];
            if (const auto format = format_.find(output_names_[i]); format != format_.end()) {
                tensor.desc.SetStorageFormat(format->second);
                tensor.desc.SetOriginFormat(format->second);
            }
            size_t skip = used[output_names_[i]]++;
            bool given = false;
            for (const auto& wanted : request_.outputs) {
                if (wanted.name != output_names_[i] || skip-- != 0) continue;
                node_.info.outputs[i] = MakeTensor(wanted);
                given = true;
                break;
            }
            if (!given && !shapes_inferred_) {
                throw BadRequest("output " + output_names_[i] +
                                 " has no shape: the request gives none and none is inferred");
            }
        }
    }

    void Parse() {
        const OpFunctions& functions = prototype_.functions;
        if (functions.create_compile_info == nullptr) return;
        node_.compile_info = functions.create_compile_info();
        gert::TilingParseContext context(node_);
        if (functions.tiling_parse != nullptr &&
            functions.tiling_parse(&context) != ge::GRAPH_SUCCESS) {
            throw std::runtime_error("parsing of the compile information failed");
        }
    }

    static void WriteShape(Json& json, const gert::Shape& shape) {
        json.Open('[');
        for (size_t i = 0; i < shape.GetDimNum(); ++i) json.Value(shape.GetDim(i));
        json.Close(']');
    }

    void WriteAnswers(Json& json) {
        const size_t size = std::min(node_.tiling.GetDataSize(), node_.tiling.GetCapacity());
        const auto* bytes = static_cast<const uint8_t*>(node_.tiling.GetData());
        std::string hex;
        for (size_t i = 0; i < size; ++i) {
            static constexpr char kDigits[] = "0123456789abcdef";
            hex += kDigits[bytes[i] >> 4];
            hex += kDigits[bytes[i] & 15];
        }
        json.Key("block_dim").Value(node_.block_dim);
        json.Key("block_dim_set").Value(node_.block_dim_set);
        json.Key("tiling_key").Value(node_.tiling_key);
        json.Key("schedule_mode").Value(node_.schedule_mode);
        json.Key("local_memory").Value(node_.local_memory);
        json.Key("need_atomic").Value(node_.need_atomic);
        json.Key("workspace_sizes")
            .List(std::vector<size_t>(node_.workspaces, node_.workspaces + node_.workspace_count));
        json.Key("tiling_data").Value(hex);
    }

    Prototype prototype_;
    const Request& request_;
    Node node_;
    fe::PlatFormInfos platform_;
    std::list<std::vector<char>> data_;
    std::vector<std::string> input_names_;
    std::vector<std::string> output_names_;
    std::map<std::string, ge::Format> format_;
    bool shapes_inferred_ = false;
};

}  // namespace npuforge::host
